import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { call, type Reply } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let operatorKey: string;
beforeAll(async () => {
  service = await startService({ endpointLimit: 7 });
  operatorKey = await service.createKey({ scopes: ['operator'] });
});
afterAll(() => service.stop());

type Account = { url: string; key: string; accountUuid: string };
type Limited = {
  what: string;
  limit: number;
  /** Inserts rows until the account has `$2`. */
  fill: string;
  create(account: Account): Promise<Reply>;
  code: string;
};

const newKey = { body: { scopes: ['read'] } };
const fillKeys = `
insert into api_keys (account_id, id, hash, name, scopes, last4, created_at)
select $1::uuid, uuid_v7(now()), sha256(gen_random_uuid()::text::bytea), 'Filler', '{read}', 'xxxx', now()
from generate_series(1, $2 - (select count(*) from api_keys where account_id = $1))`;

const limits: Limited[] = [
  {
    what: 'event consumers',
    limit: 100,
    fill: `
insert into event_consumers (account_id, name, position, mark, created_at)
select $1::uuid, gen_random_uuid()::text, 0, 0, now()
from generate_series(1, $2 - (select count(*) from event_consumers where account_id = $1))`,
    create: (account) => call(account, 'PUT', '/v1/event_consumers/one-more', { body: {} }),
    code: 'consumer_limit_reached',
  },
  {
    what: 'webhook endpoints',
    limit: 7,
    fill: `
insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, api_version, created_at)
select $1::uuid, uuid_v7(now()), 'https://example.com/', '{*}', '{}', 'enabled', '2026-11-01', now()
from generate_series(1, $2 - (select count(*) from webhook_endpoints where account_id = $1))`,
    create: (account) =>
      call(account, 'POST', '/v1/webhook_endpoints', {
        body: { url: 'https://example.com/', enabled_event_types: ['*'] },
      }),
    code: 'endpoint_limit_reached',
  },
  {
    what: 'keys that the account creates',
    limit: 1_000,
    fill: fillKeys,
    create: (account) => call(account, 'POST', '/v1/api_keys', newKey),
    code: 'api_key_limit_reached',
  },
  {
    what: 'keys that the operator creates',
    limit: 1_000,
    fill: fillKeys,
    create: ({ url, accountUuid }) =>
      call(
        { url, key: operatorKey },
        'POST',
        `/v1/operator/accounts/${idOfUuid('acct', accountUuid)}/api_keys`,
        newKey,
      ),
    code: 'api_key_limit_reached',
  },
];

test.each(limits)('the limit of $what holds against a creation that has not committed yet', async (one) => {
  const account = { url: service.url, ...(await service.createAccount(one.what)) };
  const fill = { name: `test_fill ${one.what}`, text: one.fill };
  await service.db.query(fill, [account.accountUuid, one.limit - 1]);
  const { reply } = await service.db.transaction(async (tx) => {
    const lock = 'select from accounts where id = $1 for no key update';
    await tx.query({ name: 'test_hold_account', text: lock }, [account.accountUuid]);
    await tx.query(fill, [account.accountUuid, one.limit]);
    const reply = one.create(account);
    // Without a lock it would not wait, and would not see the row of this transaction.
    await Promise.race([reply, untilLockIsAwaited(service)]);
    return { reply };
  });
  const { status, json } = await reply;
  expect([status, json.error?.code]).toEqual([409, one.code]);
});

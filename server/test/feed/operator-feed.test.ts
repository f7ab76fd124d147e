import { createOperator } from '@simplane/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deployment } from '../../src/accounts/deployment.ts';
import { expireFeeds } from '../../src/notify/feed/expire.ts';
import { assignPositions } from '../../src/notify/feed/sql/positions.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { countEvents } from '../../src/views/overview/count-events.ts';
import { call } from '../support/client.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { openSse } from '../support/sse.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

type Target = { url: string; key: string };
type Tenant = Target & { accountUuid: string };

let service: TestService;
let operator: Target;
let tenants: [Tenant, Tenant];
let cursor: string;

beforeAll(async () => {
  service = await startService();
  operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
});
afterAll(() => service.stop());
beforeEach(async () => {
  const create = async (name: string) => ({ url: service.url, ...(await service.createAccount(name)) });
  tenants = [await create('First'), await create('Second')];
  await sequenceEvents(service);
  cursor = (await read('after=now')).json.cursor;
});

const read = (query: string) => call(operator, 'GET', `/v1/operator/events/feed?${query}`);
const send = async (target: Target, type = 'a.b'): Promise<string> =>
  (await call(target, 'POST', '/v1/events/test', { body: { type, data: { n: 1e21, text: 'ü\n' } } })).json.id;

async function publish(target: Target, type?: string): Promise<string> {
  const id = await send(target, type);
  await sequenceEvents(service);
  return id;
}

const idsOf = (page: { json: { data: { id: string }[] } }) => page.json.data.map(({ id }) => id);
const accountIdOf = ({ accountUuid }: Tenant) => idOfUuid('acct', accountUuid);

describe('the operator’s feed', () => {
  test('has the events of all accounts in one order, each with its account in front of the bytes that the account sees', async () => {
    const [first, second] = tenants;
    const ids = [await publish(first), await publish(second), await publish(first)];
    const page = await read(`after=${cursor}`);
    expect(idsOf(page)).toEqual(ids);
    for (const tenant of tenants) {
      const { data } = JSON.parse((await call(tenant, 'GET', '/v1/events?limit=100')).text);
      const own = (await call(tenant, 'GET', '/v1/events/feed?after=start')).text;
      for (const event of data) {
        const bytes = /\{"id":"ID".*?"data":\{.*?\}\}/.source.replace('ID', event.id);
        const stored = new RegExp(bytes).exec(own)?.[0] ?? 'missing';
        expect(page.text).toContain(`{"account_id":"${accountIdOf(tenant)}",${stored.slice(1)}`);
      }
    }
  });

  test('takes `since`, `limit`, `type` and `wait` as an account’s feed does', async () => {
    const [first, second] = tenants;
    service.clock.advance(60_000);
    const since = Math.floor(service.clock.nowMs() / 1_000);
    service.clock.advance(2_000);
    const ids = [
      await publish(first, 'a.one'),
      await publish(second, 'b.two'),
      await publish(first, 'a.two'),
    ];
    expect(idsOf(await read(`since=${since}`))).toEqual(ids);
    expect(idsOf(await read(`since=${since}&limit=2`))).toEqual(ids.slice(0, 2));
    expect(idsOf(await read(`after=${cursor}&type=b.*`))).toEqual([ids[1]]);
    const waiting = read(`after=${(await read('after=now')).json.cursor}&wait=30`);
    const sequencer = service.startSequencer();
    const late = await send(second);
    expect(idsOf(await waiting)).toEqual([late]);
    await sequencer.stop();
  });

  test('streams, and goes on after Last-Event-ID', async () => {
    const [first, second] = tenants;
    const stream = await openSse(operator, `/v1/operator/events/feed?after=${cursor}`);
    const sequencer = service.startSequencer();
    const ids = [await send(first), await send(second)];
    await until(
      async () => stream.messages.length,
      (count) => count === 2,
    );
    stream.close();
    const shown = stream.messages.map(({ data }) => JSON.parse(data));
    expect(shown.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(Object.keys(shown[0])[0]).toBe('account_id');
    const resumed = await openSse(operator, '/v1/operator/events/feed', {
      'Last-Event-ID': stream.messages[0]?.id ?? '',
    });
    await until(
      async () => resumed.messages.length,
      (count) => count === 1,
    );
    resumed.close();
    expect(resumed.messages[0]?.data).toBe(stream.messages[1]?.data);
    await sequencer.stop();
  });

  test('is followed with the SDK, one event after the other', async () => {
    const sdk = createOperator({ apiKey: operator.key, baseUrl: operator.url });
    const ids = [await publish(tenants[0]), await publish(tenants[1])];
    const seen: { id: string; account_id: string | null }[] = [];
    for await (const event of sdk.events.follow({ after: cursor })) {
      seen.push(event);
      if (seen.length === ids.length) break;
    }
    expect(seen.map(({ id, account_id }) => [id, account_id])).toEqual(
      ids.map((id, index) => [id, accountIdOf(tenants[index] as Tenant)]),
    );
    expect((await sdk.events.feed({ after: cursor })).data.map(({ id }) => id)).toEqual(ids);
  });

  test('has cursors of its own: an account’s is refused, and an account refuses its', async () => {
    const [first] = tenants;
    await publish(first);
    const own = (await call(first, 'GET', '/v1/events/feed?after=start')).json.cursor;
    const refused = await read(`after=${own}`);
    expect([refused.status, refused.json.error.code]).toEqual([400, 'cursor_invalid']);
    const foreign = await call(first, 'GET', `/v1/events/feed?after=${cursor}`);
    expect([foreign.status, foreign.json.error.code]).toEqual([400, 'cursor_invalid']);
  });

  test('is refused to every key of an account, and in the name of an account it is still that of all', async () => {
    const { status, json } = await call(tenants[0], 'GET', '/v1/operator/events/feed');
    expect([status, json.error.code]).toEqual([403, 'scope_missing']);
    const id = await publish(tenants[1]);
    const headers = { 'Service-Account': accountIdOf(tenants[0]) };
    const page = await call(operator, 'GET', `/v1/operator/events/feed?after=${cursor}`, { headers });
    expect(idsOf(page)).toEqual([id]);
  });

  test('goes on with the events of a suspended account', async () => {
    const id = await publish(tenants[0]);
    await call(operator, 'PATCH', `/v1/operator/accounts/${accountIdOf(tenants[0])}`, {
      body: { status: 'suspended' },
    });
    expect(idsOf(await read(`after=${cursor}`))).toEqual([id]);
  });
});

test('a sequencer of the last release, which does not know the deployment’s feed, fills it too', async () => {
  const id = await send(tenants[0]);
  // What the last release runs: it names neither the new column nor the deployment.
  await service.db.pool.query(`
    with taken as (delete from unsequenced_events returning account_id, event_ids), runs as (
      select account_id, event_ids, event_ids[1] as oldest_id from taken
    ), heads as (
      insert into event_feed_heads as head (account_id, last_position, mark, newest_id)
      select account_id, cardinality(event_ids), 7, oldest_id from runs
      on conflict (account_id) do update
      set last_position = head.last_position + excluded.last_position, mark = 7, newest_id = excluded.newest_id
      returning account_id, last_position, mark, newest_id)
    insert into event_feed (account_id, first_position, event_ids, mark, oldest_id, newest_id, sequenced_at)
    select heads.account_id, heads.last_position - cardinality(event_ids) + 1, event_ids, mark, oldest_id, newest_id, now()
    from heads join runs on runs.account_id = heads.account_id`);
  expect(idsOf(await read(`after=${cursor}`))).toEqual([id]);
});

test('an event that a slow pass took first has the lower position: the other pass waits for it', async () => {
  const [first, second] = tenants;
  const ids = [await send(first)];
  const slow = await service.db.pool.connect();
  await slow.query('begin');
  const pass = { afterId: 0, limit: 1_000, at: new Date(service.clock.nowMs()) };
  const query = (statement: { text: string }, values: unknown[]) =>
    slow.query(statement.text, values).then(({ rows }) => rows);
  await assignPositions({ query } as never, pass);
  ids.push(await send(second));
  const other = assignPositions(service.db, pass);
  await untilLockIsAwaited(service);
  expect(idsOf(await read(`after=${cursor}`))).toEqual([]);
  await slow.query('commit');
  slow.release();
  await other;
  expect(idsOf(await read(`after=${cursor}`))).toEqual(ids);
});

test('expiry locks the deployment’s feed after those of accounts, as the sequencer does', async () => {
  await publish(tenants[0]);
  const { accountUuid } = tenants[0];
  const holder = await service.db.pool.connect();
  await holder.query('begin');
  const lock = (uuid: string) =>
    holder.query('select from event_feed_heads where account_id = $1 for update nowait', [uuid]);
  await lock(accountUuid);
  const expiring = expireFeeds(service.db, [
    { accountUuid: deployment.uuid, through: 1, keptFromUuid: null },
    { accountUuid, through: 1, keptFromUuid: null },
  ]);
  await untilLockIsAwaited(service);
  const locking = lock(deployment.uuid);
  await locking.catch(() => {});
  await holder.query('rollback');
  holder.release();
  await Promise.all([locking, expiring]);
});

test('the overview does not count what the deployment’s feed repeats', async () => {
  await publish(tenants[0]);
  await countEvents(service);
  const isCounted = async (accountUuid: string) =>
    (await service.db.pool.query('select from counted_events where account_id = $1', [accountUuid])).rowCount;
  expect(await isCounted(tenants[0].accountUuid)).toBe(1);
  expect(await isCounted(deployment.uuid)).toBe(0);
});

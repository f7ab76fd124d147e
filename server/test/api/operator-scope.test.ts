import { accountScopes, isOperators, isWrite, type Operation, operations } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let operatorKey: string;
let accountId: string;

beforeAll(async () => {
  service = await startService();
  operatorKey = await service.createKey({ scopes: ['operator'] });
  accountId = idOfUuid('acct', service.accountUuid);
});
afterAll(() => service.stop());

const all = Object.entries(operations) as [string, Operation][];
const operators = all.filter(([, one]) => isOperators(one));
const writes = all.filter(([, one]) => !isOperators(one) && isWrite(one));
const reads = all.filter(([id, one]) => !isOperators(one) && !isWrite(one) && id !== 'getMe');

async function send({ method, path }: Operation, key: string, headers: Record<string, string> = {}) {
  const url = service.url + path.replaceAll(/\{\w+\}/g, 'x');
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(method !== 'GET' && { body: '{}' }),
  });
  const body = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: body.error?.code };
}

const refused = { status: 403, code: 'scope_missing' };

test('a key with all scopes of an account may call no operation of the operator', async () => {
  for (const [id, operation] of operators) {
    expect([id, await send(operation, service.key)]).toEqual([id, refused]);
  }
  for (const scope of accountScopes) {
    const key = await service.createKey({ scopes: [scope] });
    const [first] = operators;
    if (first) expect(await send(first[1], key)).toEqual(refused);
  }
});

describe('an operator’s key', () => {
  test.each(writes)('may not call %s, with or without Service-Account', async (_, operation) => {
    expect(await send(operation, operatorKey)).toEqual(refused);
    expect(await send(operation, operatorKey, { 'service-account': accountId })).toEqual(refused);
  });

  test('needs operator_write to count usage for accounts', async () => {
    const { takeObservations } = operations;
    expect(await send(takeObservations, operatorKey)).toEqual(refused);
    const writing = await service.createKey({ scopes: ['operator', 'operator_write'] });
    expect((await send(takeObservations, writing)).status).toBe(200);
  });

  test('may call a reading operation only with Service-Account, which the account’s audit log shows', async () => {
    for (const [id, operation] of reads) {
      expect([id, await send(operation, operatorKey)]).toEqual([id, refused]);
      const before = await countViews();
      const { status } = await send(operation, operatorKey, { 'service-account': accountId });
      expect([id, status, (await countViews()) - before]).toEqual([id, expect.toBeOneOf([200, 400, 404]), 1]);
    }
  });

  test('leaves the path of what it read in the audit log, without its query', async () => {
    const headers = { authorization: `Bearer ${operatorKey}`, 'service-account': accountId };
    await fetch(`${service.url}/v1/esims?reference=a-secret`, { headers });
    const { data } = await (
      await fetch(`${service.url}/v1/audit_log?action=account.viewed&limit=1`, {
        headers: { authorization: `Bearer ${service.key}` },
      })
    ).json();
    expect(data).toMatchObject([{ changes: { request: 'GET /v1/esims' } }]);
  });

  test('may not call tools, which act for an account', async () => {
    const mcp = { ...operations.sendTestEvent, path: '/mcp' };
    expect(await send(mcp, operatorKey)).toEqual(refused);
    expect(await send(mcp, operatorKey, { 'service-account': accountId })).toEqual(refused);
  });

  test('needs an account that exists', async () => {
    expect(
      await send(operations.listEsims, operatorKey, { 'service-account': 'acct_00000000000000000000000000' }),
    ).toEqual({ status: 404, code: 'resource_missing' });
  });

  test('is shown by /v1/me without an account', async () => {
    const response = await fetch(`${service.url}/v1/me`, {
      headers: { authorization: `Bearer ${operatorKey}` },
    });
    expect(await response.json()).toMatchObject({ account: null, api_key: { scopes: ['operator'] } });
  });
});

test('a key of an account may not choose an account, not even its own', async () => {
  expect(await send(operations.listEsims, service.key, { 'service-account': accountId })).toEqual(refused);
});

test('a key never has the operator scope together with another', async () => {
  await expect(service.createKey({ scopes: ['operator', 'read'] })).rejects.toThrow('api_keys_of_operators');
});

async function countViews(): Promise<number> {
  const [row] = await service.db.query<{ count: number }>(
    {
      name: 'test_views',
      text: `select count(*)::integer as count from audit_log where account_id = $1 and action = 'account.viewed'`,
    },
    [service.accountUuid],
  );
  return row?.count ?? 0;
}

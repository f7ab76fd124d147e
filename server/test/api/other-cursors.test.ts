import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed } from '../support/insert-executions.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let operator: string;
const [one, other] = ['8999905000000000019', '8999905000000000027'];
beforeAll(async () => {
  service = await startService();
  operator = await service.createKey({ scopes: ['operator'] });
  for (let n = 0; n < 4; n++) {
    await insertFailed(service, 'declined', null);
    const text = `update esims set metadata = '{"a": "1", "b": "2"}' where iccid = $1`;
    await service.db.pool.query(text, [await insertEsim(service)]);
  }
  await service.db.pool.query(
    `insert into batches (account_id, id, total, created_at)
     select $1, uuid_v7(now()), 1, now() from generate_series(1, 4)`,
    [service.accountUuid],
  );
  const at = Math.floor(service.clock.nowMs() / 1_000);
  const records = Array.from({ length: 8 }, (_, n) => ({
    ...{ record_id: `r${n}`, bytes: 1, at, iccid: n % 2 === 0 ? one : other },
  }));
  await call(service, 'POST', '/v1/usage_records', { body: { records } });
  service.clock.advance(3_600_000);
});
afterAll(() => service.stop());

// A page from another filter's position would leave items out, or repeat them.
test.each([
  ['/v1/operator/executions', 'older_than=60', 'older_than=120'],
  ['/v1/operator/executions', 'older_than=60', ''],
  ['/v1/operator/rejected_usage', `iccid=${one}`, `iccid=${other}`],
  ['/v1/operator/rejected_usage', `iccid=${one}`, ''],
  ['/v1/executions', 'created[gt]=1', 'created[gt]=2'],
  ['/v1/executions', 'created[gt]=1', ''],
  ['/v1/batches', 'created[gt]=1', 'created[gt]=2'],
  ['/v1/batches', 'created[gt]=1', ''],
])('of %s, a cursor for %j goes on there, and is refused for %j', async (path, filter, wrong) => {
  const key = path.startsWith('/v1/operator') ? operator : service.key;
  const list = async (query: string) =>
    (await call(service, 'GET', `${path}?${query}&limit=2`, { key })).json;
  const first = await list(filter);
  const rest = await list(`${filter}&starting_after=${first.next_cursor}`);
  const shown = [...first.data, ...rest.data].map(({ id, record_id }) => id ?? record_id);
  expect([new Set(shown).size, rest.has_more]).toEqual([4, false]);
  const refused = await list(`${wrong}&starting_after=${first.next_cursor}`);
  expect(refused.error.code).toBe('cursor_invalid');
});

test.each([
  ['/v1/esims', 'metadata[a]=1&metadata[b]=2', 'metadata[b]=2&metadata[a]=1'],
  ['/v1/executions', 'type=esim.provision,bundle.add', 'type=bundle.add,esim.provision'],
])('of %s, a cursor for %j goes on for %j, which means the same', async (path, filter, same) => {
  const list = async (query: string) => (await call(service, 'GET', `${path}?${query}&limit=2`)).json;
  const first = await list(filter);
  const rest = await list(`${same}&starting_after=${first.next_cursor}`);
  expect(new Set([...first.data, ...rest.data].map(({ id, iccid }) => id ?? iccid)).size).toBe(4);
});

/** An eSIM with two install links, which was downloaded and installed. */
async function newEsim(): Promise<string> {
  const iccid = await insertEsim(service);
  for (const action of ['download', 'install'])
    await call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body: { action } });
  for (let n = 0; n < 2; n++) await call(service, 'POST', `/v1/esims/${iccid}/install_links`, { body: {} });
  return iccid;
}

/** An account with three keys and two audit entries. */
async function newAccount(): Promise<string> {
  const { accountUuid, key } = await service.createAccount('Parent');
  const body = { scopes: ['read'] };
  for (let n = 0; n < 2; n++) await call(service, 'POST', '/v1/api_keys', { key, body });
  return idOfUuid('acct', accountUuid);
}

test.each([
  ['the timeline of an eSIM', async () => `/v1/esims/${await newEsim()}/timeline?`],
  ['the install links of an eSIM', async () => `/v1/esims/${await newEsim()}/install_links?`],
  ['the keys of an account', async () => `/v1/operator/accounts/${await newAccount()}/api_keys?`],
  ['the audit log of an account', async () => `/v1/operator/audit_log?account_id=${await newAccount()}&`],
])('a cursor for %s goes on there, and is refused for another', async (_, newList) => {
  const [path, other] = [await newList(), await newList()];
  const key = path.startsWith('/v1/operator') ? operator : service.key;
  const list = async (query: string) => (await call(service, 'GET', `${query}limit=1`, { key })).json;
  const { next_cursor } = await list(path);
  expect((await list(`${path}starting_after=${next_cursor}&`)).data).toHaveLength(1);
  expect((await list(`${other}starting_after=${next_cursor}&`)).error.code).toBe('cursor_invalid');
});

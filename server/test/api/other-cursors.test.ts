import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { insertFailed } from '../support/insert-executions.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let operator: string;
const [one, other] = ['8999905000000000019', '8999905000000000027'];
beforeAll(async () => {
  service = await startService();
  operator = await service.createKey({ scopes: ['operator'] });
  for (let n = 0; n < 4; n++) await insertFailed(service, 'declined', null);
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

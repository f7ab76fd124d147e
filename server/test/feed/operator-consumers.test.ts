import { createOperator } from '@simplane/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const consumers = '/v1/operator/event_consumers';

let service: TestService;
let operator: { url: string; key: string };

beforeAll(async () => {
  service = await startService();
  operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
});
afterAll(() => service.stop());

async function publish(key: string): Promise<string> {
  const body = { type: 'a.b', data: {} };
  const { id } = (await call(service, 'POST', '/v1/events/test', { body, key })).json;
  await sequenceEvents(service);
  return id;
}

test('an operator’s consumer reads all accounts, moves forward with ack and anywhere with seek', async () => {
  const other = await service.createAccount('Other');
  const created = await call(operator, 'PUT', `${consumers}/billing`, { body: {} });
  expect(created.json).toMatchObject({ name: 'billing', behind: 0, oldest_unacknowledged_at: null });
  const ids = [await publish(service.key), await publish(other.key)];
  const shown = (await call(operator, 'GET', `${consumers}/billing`)).json;
  expect([shown.behind, typeof shown.oldest_unacknowledged_at]).toEqual([2, 'number']);
  const page = (await call(operator, 'GET', '/v1/operator/events/feed?consumer=billing')).json;
  expect(page.data.map(({ id }: { id: string }) => id)).toEqual(ids);
  const acknowledged = await call(operator, 'POST', `${consumers}/billing/ack`, {
    body: { cursor: page.cursor },
  });
  expect(acknowledged.json.behind).toBe(0);
  const back = await call(operator, 'POST', `${consumers}/billing/ack`, {
    body: { cursor: created.json.cursor },
  });
  expect([back.status, back.json.error.code]).toEqual([409, 'cursor_behind']);
  const sought = await call(operator, 'POST', `${consumers}/billing/seek`, {
    body: { after: created.json.cursor },
  });
  expect(sought.json.behind).toBe(2);
  const { rows } = await service.db.pool.query(
    `select action, account_id from audit_log where target_id = 'billing' order by id`,
  );
  expect(rows).toEqual(
    ['created', 'acknowledged', 'moved'].map((what) => ({
      action: `event_consumer.${what}`,
      account_id: null,
    })),
  );
  await call(operator, 'DELETE', `${consumers}/billing`);
  const gone = await call(operator, 'GET', `${consumers}/billing`);
  expect([gone.status, gone.json.error.message]).toEqual([404, expect.stringContaining(`PUT ${consumers}/`)]);
});

test('accounts and operator do not see each other’s consumers', async () => {
  await call(service, 'PUT', '/v1/event_consumers/mine', { body: {} });
  await call(operator, 'PUT', `${consumers}/ours`, { body: {} });
  const names = async (target: { url: string; key: string }, path: string) =>
    (await call(target, 'GET', path)).json.data.map(({ name }: { name: string }) => name);
  expect(await names(service, '/v1/event_consumers')).toEqual(['mine']);
  expect(await names(operator, consumers)).toEqual(['ours']);
  const refused = await call(operator, 'GET', '/v1/operator/events/feed?consumer=mine');
  expect([refused.status, refused.json.error.param]).toEqual([404, 'consumer']);
});

test('the SDK runs one, which gets each event with its account', async () => {
  const sdk = createOperator({ apiKey: operator.key, baseUrl: operator.url });
  await sdk.consumers.create('runner', { after: 'now' });
  const id = await publish(service.key);
  const stopping = new AbortController();
  const seen: (string | null)[] = [];
  await sdk.consumers.run(
    'runner',
    (event) => {
      seen.push(event.id, event.account_id);
      stopping.abort();
    },
    { signal: stopping.signal },
  );
  expect(seen).toEqual([id, expect.stringMatching(/^acct_/)]);
  await until(
    () => sdk.consumers.get('runner'),
    ({ behind }) => behind === 0,
  );
});

test('the deployment can have 100, also if two are created at once', async () => {
  const { data } = (await call(operator, 'GET', `${consumers}?limit=100`)).json;
  await service.db.pool.query(
    `insert into event_consumers (account_id, name, position, mark, created_at)
     select '00000000-0000-0000-0000-000000000000', 'full-' || n, 0, 0, now() from generate_series(1, $1) n`,
    [99 - data.length],
  );
  const first = await service.db.pool.connect();
  await first.query('begin');
  await first.query('select pg_advisory_xact_lock(7305124803)');
  const second = call(operator, 'PUT', `${consumers}/late`, { body: {} });
  await Promise.race([second, untilLockIsAwaited(service).catch(() => {})]);
  await first.query(
    `insert into event_consumers (account_id, name, position, mark, created_at)
     values ('00000000-0000-0000-0000-000000000000', 'hundredth', 0, 0, now())`,
  );
  await first.query('commit');
  first.release();
  const { status, json } = await second;
  expect([status, json.error.code]).toEqual([409, 'consumer_limit_reached']);
  expect(json.error.message).toContain('The deployment has reached');
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCoreCommands } from '../../src/network/core/core-commands.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { continueResync } from '../../src/orders/service/resync.ts';
import { unixSeconds } from '../../src/platform/clock.ts';
import { call, provision } from '../support/client.ts';
import { type FakeCore, startFakeCore } from '../support/fake-core.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let core: FakeCore;
let operator: string;
let iccids: string[];
beforeAll(async () => {
  core = await startFakeCore();
  service = await startService({ mode: 'live', core: 'state' });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  operator = await service.createKey({ scopes: ['operator'] });
  const orders = await Promise.all(Array.from({ length: 5 }, () => provision(service)));
  iccids = await Promise.all(orders.map(({ json }) => iccidOf(json.id)));
  service.startCore(
    createCoreCommands({
      ...{ url: core.url, secret: 'x'.repeat(32), userAgent: 'x' },
      nowSeconds: () => unixSeconds(Date.now()),
    }),
    { retryScheduleMs: [10] },
  );
  await continueResync(service.db, service.service);
  await untilNothingPends();
});
afterAll(async () => {
  await service.stop();
  await core.stop();
});

async function iccidOf(id: string): Promise<string> {
  const done = await until(
    async () => (await call(service, 'GET', `/v1/executions/${id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  return done.iccid;
}

const changes = async (query = '') =>
  (await call(service, 'GET', `/v1/operator/service_changes${query}`, { key: operator })).json;
const resync = () => call(service, 'POST', '/v1/operator/core/resync', { key: operator });
const untilNothingPends = () =>
  until(
    async () => (await changes()).data,
    (data) => data.length === 0,
  );
const metrics = async () => {
  const text = await service.service.metrics.registry.metrics();
  return Number(/^simplane_core_behind_seconds (\S+)$/m.exec(text)?.[1]);
};

test('a core that was restored from an old backup gets every state again, with the same body per version', async () => {
  const before = new Map(core.commands().map((command) => [command.id, JSON.stringify(command)]));
  core.restore(new Map());
  core.received.length = 0;
  const reply = await resync();
  expect([reply.status, reply.json]).toEqual([
    202,
    { object: 'core_resync', created: expect.any(Number), esims: 0, finished_at: null },
  ]);
  await continueResync(service.db, service.service);
  await until(
    async () => core.lines.size,
    (count) => count === iccids.length,
  );
  await untilNothingPends();
  for (const command of core.commands()) expect(JSON.stringify(command)).toBe(before.get(command.id));
  const { data } = (await call(service, 'GET', '/v1/operator/audit_log', { key: operator })).json;
  expect(data[0]).toMatchObject({
    action: 'core.resync_started',
    target: { type: 'deployment', id: 'core' },
  });
});

test('refused states are listed with the core’s words, do not count as behind, and are sent again by a resync', async () => {
  core.behave(() => ({ refuse: 'unknown subscriber' }));
  await resync();
  await continueResync(service.db, service.service);
  const refused = await until(
    async () => (await changes('?state=refused')).data,
    (data) => data.length === iccids.length,
  );
  expect(refused[0]).toMatchObject({
    ...{ object: 'service_change', state: 'refused', version: 1, next_attempt_at: null },
    service: { state: 'full', reason: null },
    error: { message: expect.stringContaining('unknown subscriber') },
  });
  expect(await metrics()).toBe(0);
  const first = await changes('?state=refused&limit=2');
  const rest = await changes(`?state=refused&limit=100&starting_after=${first.next_cursor}`);
  const listed = [...first.data, ...rest.data].map(({ iccid }: { iccid: string }) => iccid);
  expect(listed.toSorted()).toEqual(iccids.toSorted());
  const elsewhere = await call(
    service,
    'GET',
    `/v1/operator/service_changes?starting_after=${first.next_cursor}`,
    { key: operator },
  );
  expect(elsewhere.json.error.code).toBe('cursor_invalid');

  core.behave(() => 'apply');
  await resync();
  await continueResync(service.db, service.service);
  await until(
    async () => (await changes('?state=refused')).data,
    (data) => data.length === 0,
  );
  await untilNothingPends();
});

test('what the core does not have is listed as pending, and shows how long it is behind', async () => {
  core.behave(() => 'hang');
  await resync();
  await continueResync(service.db, service.service);
  await service.db.query(
    { name: 'test_age', text: `update core_queue set since = now() - interval '1 hour'` },
    [],
  );
  const { data } = await changes();
  expect(data).toHaveLength(iccids.length);
  expect(data[0]).toMatchObject({ state: 'pending', failures: 0, error: null });
  expect(await metrics()).toBeGreaterThanOrEqual(3600);
});

test('a resync writes the state that older releases left wrong or did not know', async () => {
  const [iccid] = iccids;
  await service.db.query(
    {
      name: 'test_old_release',
      text: `update esims set service = null, service_version = 0, status = 'suspended', resumes_to = 'active' where iccid = $1`,
    },
    [iccid],
  );
  const shown = async () => (await call(service, 'GET', `/v1/esims/${iccid}`)).json.service;
  expect(await shown()).toMatchObject({ state: 'barred', reason: 'suspended', version: 0, bundle_id: null });
  await resync();
  await continueResync(service.db, service.service);
  expect(await shown()).toMatchObject({ state: 'barred', reason: 'suspended', version: 1 });
});

test('a resync goes on where a killed process left it, and waits while the queue is long', async () => {
  await service.db.query(
    {
      name: 'test_flood',
      text: `insert into core_queue (account_id, iccid, id, version, service, since, due_at)
        select $1, 'flood-' || n, gen_random_uuid(), 1, '{}', now(), now() + interval '1 hour'
        from generate_series(1, 1000) n`,
    },
    [service.accountUuid],
  );
  await resync();
  const state = async () => {
    const text = 'select after_iccid, esims, finished_at from core_resync';
    return (await service.db.query<{ esims: number }>({ name: 'test_resync', text }, []))[0];
  };
  await continueResync(service.db, service.service);
  expect(await state()).toMatchObject({ after_iccid: '', esims: 0, finished_at: null });
  await service.db.query({ name: 'test_ebb', text: `delete from core_queue where iccid like 'flood-%'` }, []);
  const sorted = iccids.toSorted();
  await service.db.query(
    { name: 'test_position', text: 'update core_resync set after_iccid = $1, esims = 3' },
    [sorted[2]],
  );
  await continueResync(service.db, service.service);
  expect(await state()).toMatchObject({ after_iccid: sorted[4], esims: 5, finished_at: expect.any(Date) });
});

test('a resync that is asked for again begins again, and gives no service to orders that failed', async () => {
  const sorted = iccids.toSorted();
  const failed = `update esims set status = 'failed', service = null, service_version = 0 where iccid = $1 returning 1`;
  await service.db.pool.query(failed, [sorted[0]]);
  await service.db.pool.query(
    'update core_resync set after_iccid = $1, esims = 3, finished_at = null',
    sorted.slice(2, 3),
  );
  expect((await resync()).json).toMatchObject({ esims: 0, finished_at: null });
  await continueResync(service.db, service.service);
  const done = 'select after_iccid, esims, finished_at is not null as is_finished from core_resync';
  expect((await service.db.pool.query(done)).rows).toEqual([
    { after_iccid: sorted[4], esims: 4, is_finished: true },
  ]);
  const served = 'select service, service_version from esims where iccid = $1';
  expect((await service.db.pool.query(served, [sorted[0]])).rows).toEqual([
    { service: null, service_version: 0 },
  ]);
});

test('a resync that another process is at is left to it', async () => {
  await resync();
  const other = await service.db.pool.connect();
  await other.query('begin');
  await other.query('select from core_resync for update');
  const going = continueResync(service.db, service.service);
  const first = await Promise.race([
    going.then(() => 'passed over'),
    untilLockIsAwaited(service).then(() => 'waited'),
  ]);
  await other.query('rollback');
  other.release();
  await going;
  expect(first).toBe('passed over');
});

test('without a core that gets states, a resync is refused', async () => {
  for (const mode of ['none', 'commands', 'mock'] as const) {
    const { databaseUrl } = service;
    const other = await startService({ mode: 'live', core: mode, databaseUrl });
    const key = await other.createKey({ scopes: ['operator'] });
    const { status, json } = await call(other, 'POST', '/v1/operator/core/resync', { key });
    expect([status, json.error.code]).toEqual([409, 'core_not_connected']);
    await other.stop();
  }
});

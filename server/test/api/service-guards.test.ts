import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Core, Reply } from '../../src/network/port.ts';
import { lockOwnEsim } from '../../src/orders/esims/lock.ts';
import { createChangeRunner } from '../../src/orders/esims/run-change.ts';
import { ClaimLost, hold } from '../../src/orders/executions/hold.ts';
import { type ClaimedExecution, type Deps, wakeChanges } from '../../src/orders/executions/runner.ts';
import { claimServices, postponeService, storeRefused } from '../../src/orders/service/core-sql.ts';
import { endServices } from '../../src/orders/service/end-due.ts';
import { continueResync } from '../../src/orders/service/resync.ts';
import { verdictOf } from '../../src/orders/service/verdict.ts';
import { refreshService } from '../../src/orders/service/write.ts';
import { uuidText } from '../../src/platform/ids/uuid.ts';
import { lowestUuid } from '../../src/platform/ids/uuid-range.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let iccid: string;
beforeAll(async () => {
  service = await startService({ core: 'state' });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterAll(() => service.stop());
beforeEach(async () => {
  const { json } = await provision(service);
  const done = await until(
    async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  iccid = done.iccid;
});

async function queued() {
  const text = 'select version, is_refused, service from core_queue where iccid = $1';
  const [row] = await service.db.query<{ version: number; is_refused: boolean }>(
    { name: 'test_core_row', text },
    [iccid],
  );
  return row;
}

const inTransaction = (run: (esim: Awaited<ReturnType<typeof lockOwnEsim>>) => object) =>
  service.db.transaction(async (tx) => {
    const esim = await lockOwnEsim(tx, service.accountUuid, iccid);
    await refreshService(tx, { ...esim, ...run(esim) }, service.service);
  });

test('a version is written once: a writer that read an older one fails', async () => {
  await inTransaction(() => ({ status: 'suspended' }));
  expect(await queued()).toMatchObject({ version: 2 });
  const stale = inTransaction(() => ({ service_version: 1, status: 'terminated' }));
  await expect(stale).rejects.toThrow('the eSIM is locked');
  expect(await queued()).toMatchObject({ version: 2, service: { reason: 'suspended' } });
});

test('an older version does not overwrite a newer one in the queue', async () => {
  const raise = 'update core_queue set version = 9 where iccid = $1';
  await service.db.query({ name: 'test_raise', text: raise }, [iccid]);
  await inTransaction(() => ({ status: 'suspended' }));
  expect(await queued()).toMatchObject({ version: 9, service: { state: 'full' } });
});

test('a refusal of an older version leaves a newer one in the queue as it is', async () => {
  await inTransaction(() => ({ status: 'suspended' }));
  const key = { account_id: service.accountUuid, iccid, version: 1 };
  expect(await storeRefused(service.db, key, { code: 'declined', message: 'no' })).toBe(false);
  expect(await queued()).toMatchObject({ version: 2, is_refused: false });
});

test('a failure of an older version does not delay a newer one', async () => {
  await inTransaction(() => ({ status: 'suspended' }));
  const key = { account_id: service.accountUuid, iccid, version: 1 };
  expect(await postponeService(service.db, key, { delayMs: 3_600_000, reason: null })).toBe(false);
  const due = 'select due_at <= now() as is_due from core_queue where iccid = $1';
  expect((await service.db.pool.query(due, [iccid])).rows).toEqual([{ is_due: true }]);
});

test('a newer version is due at once, with no failure yet, and the core is behind since the older one', async () => {
  const esim = { account_id: service.accountUuid, iccid };
  const reason = { code: 'network_unavailable', message: 'HTTP 503' } as const;
  const rows = async (columns: string) =>
    (await service.db.pool.query(`select ${columns} from core_queue where iccid = $1`, [iccid])).rows;
  await service.db.pool.query(`update core_queue set since = now() - interval '1 hour' where iccid = $1`, [
    iccid,
  ]);
  await postponeService(service.db, { ...esim, version: 1 }, { delayMs: 3_600_000, reason });
  await postponeService(service.db, { ...esim, version: 1 }, { delayMs: 3_600_000, reason: null });
  expect(await rows('failures, error')).toEqual([{ failures: 1, error: reason }]);
  await inTransaction(() => ({ status: 'suspended' }));
  const state = `version, failures, error, due_at <= now() as is_due, since < now() - interval '50 minutes' as is_old`;
  expect(await rows(state)).toEqual([{ version: 2, failures: 0, error: null, is_due: true, is_old: true }]);
});

test('a resync leaves a state that waits for the core as it is: when it is due, and since when it waits', async () => {
  const read = async (text: string) => (await service.db.pool.query(text, [iccid])).rows;
  const [waiting] = await read(
    `update core_queue set failures = 3, since = now() - interval '1 hour', due_at = now() + interval '1 hour'
     where iccid = $1 returning *`,
  );
  const key = await service.createKey({ scopes: ['operator'] });
  expect((await call(service, 'POST', '/v1/operator/core/resync', { key })).status).toBe(202);
  await continueResync(service.db, service.service);
  expect(await read('select * from core_queue where iccid = $1')).toEqual([waiting]);
});

test('what is kept of a refusal names neither a host nor a setting: its account reads it', async () => {
  const esim = { account_id: service.accountUuid, iccid };
  const words = { code: 'declined', message: 'unknown subscriber' } as const;
  const hidden = { detail: 'core.internal: SIMPLANE_CORE_URL', host: 'core.internal' };
  expect(await storeRefused(service.db, { ...esim, version: 1 }, { ...words, ...hidden })).toBe(true);
  const pending_change = { change: 'suspend', execution_id: '', version: 1 } as const;
  expect(await verdictOf(service.db, { ...esim, applied_version: null, pending_change })).toEqual({
    ...{ kind: 'refused', error: { ...words, retryable: false } },
  });
});

test('a bundle of an older release, which has no countries, covers those of its product', async () => {
  await service.db.pool.query('update bundles set countries = null where iccid = $1', [iccid]);
  await inTransaction(() => ({ country: 'JP' }));
  expect(await queued()).toMatchObject({ version: 2, service: { state: 'barred', reason: 'not_covered' } });
});

describe('a claim of states', () => {
  const claim = (count: number) =>
    claimServices(service.db, {
      ...{ count, holder: uuidText(service.service.newUuid()), leaseMs: 60_000 },
      ...{ afterAccount: lowestUuid, exceptAccounts: [] },
    });
  beforeEach(async () => {
    await service.db.pool.query('delete from core_queue');
    for (const name of ['one', 'other']) {
      const { accountUuid } = await service.createAccount(name);
      await service.db.pool.query(
        `insert into core_queue (account_id, iccid, id, version, service, since, due_at)
         select $1, $2::text || n, gen_random_uuid(), 1, '{}', now(), now() - n * interval '1 minute'
         from generate_series(1, 8) n`,
        [accountUuid, name],
      );
    }
  });
  afterEach(() => service.db.pool.query('delete from core_queue'));

  test('has some of each account, those first that are due longest', async () => {
    expect((await claim(4)).map((one) => one.iccid).sort()).toEqual(['one8', 'other8']);
  });

  test('passes over one that a request is writing', async () => {
    const other = await service.db.pool.connect();
    await other.query('begin');
    await other.query(`select from core_queue where iccid = 'one8' for update`);
    const claiming = claim(4);
    await Promise.race([claiming, untilLockIsAwaited(service)]);
    const leased = 'select iccid from core_queue where leased_until is not null order by iccid';
    const { rows } = await service.db.pool.query(leased);
    await other.query('rollback');
    other.release();
    await claiming;
    expect(rows).toEqual([{ iccid: 'one7' }, { iccid: 'other8' }]);
  });
});

describe('the end of what a depleted bundle still allowed', () => {
  const endAll = () => endServices(service.db, service.service);
  const waiting = async () =>
    (await service.db.pool.query('select iccid from esims where service_ends_at <= now()')).rows;
  async function insertEnding(): Promise<string> {
    const ending = await insertEsim(service);
    await service.db.pool.query(
      `update esims set service_ends_at = now() - interval '1 minute' where iccid = $1`,
      [ending],
    );
    return ending;
  }

  test('reaches more eSIMs than one batch has', async () => {
    for (let n = 0; n < 101; n++) await insertEnding();
    const announced: unknown[] = [];
    const signals = {
      announce: (topic: string, subject?: string) =>
        void announced.push([topic, subject?.replaceAll('-', '')]),
    };
    await endServices(service.db, { ...service.service, signals });
    expect(await waiting()).toEqual([]);
    // Each batch, so that its events are sent before the next one.
    expect(announced).toEqual(Array(2).fill(['deliveries', service.accountUuid.replaceAll('-', '')]));
  });

  test('passes over an eSIM that a request has locked', async () => {
    const [locked] = [await insertEnding(), await insertEnding()];
    const other = await service.db.pool.connect();
    await other.query('begin');
    await other.query('select from esims where iccid = $1 for update', [locked]);
    const ending = endAll();
    await Promise.race([ending, untilLockIsAwaited(service)]);
    const left = await waiting();
    await other.query('rollback');
    other.release();
    await ending;
    expect(left).toEqual([{ iccid: locked }]);
    await endAll();
  });
});

test('a version that the core failed is no refusal of the change in it', async () => {
  await inTransaction(() => ({ status: 'suspended' }));
  const esim = { account_id: service.accountUuid, iccid };
  const reason = { code: 'network_unavailable', message: 'HTTP 503' } as const;
  expect(await postponeService(service.db, { ...esim, version: 2 }, { delayMs: 0, reason })).toBe(true);
  const pending_change = { change: 'suspend', execution_id: '', version: 2 } as const;
  expect(await verdictOf(service.db, { ...esim, applied_version: 1, pending_change })).toBeNull();
});

test('a worker that lost a change to another writes nothing of it, whatever the core has said', async () => {
  const change = { change: 'suspend', execution_id: uuidText(service.service.newUuid()), version: 1 };
  const pending = 'update esims set pending_change = $2, applied_version = $3 where iccid = $1';
  const deps = { ...service.service, core: 'state' } as unknown as Deps;
  const esim = { account_id: service.accountUuid, id: change.execution_id, iccid };
  const claimed = { ...esim, fence: 1, attempts: 1, type: 'esim.suspend', progress: {} };
  const lost = hold(deps, null, claimed as unknown as ClaimedExecution, new AbortController().signal);
  for (const appliedVersion of [1, null]) {
    await service.db.pool.query(pending, [iccid, change, appliedVersion]);
    await expect(createChangeRunner('suspend').run(deps, lost)).rejects.toThrow(ClaimLost);
    const text = 'select status, pending_change from esims where iccid = $1';
    const { rows } = await service.db.pool.query(text, [iccid]);
    expect(rows).toEqual([{ status: 'provisioned', pending_change: change }]);
  }
});

test('a state that is being sent is not sent by others meanwhile', async () => {
  const calls: string[] = [];
  let answer = () => {};
  const slow: Core = {
    setService: ({ id }) =>
      new Promise((resolve) => {
        calls.push(id);
        answer = () => resolve({ kind: 'done', result: {} });
      }),
  };
  await service.db.query({ name: 'test_empty', text: 'delete from core_queue where iccid <> $1' }, [iccid]);
  const workers = [service.startCore(slow), service.startCore(slow)];
  await until(
    async () => calls.length,
    (count) => count > 0,
  );
  for (let n = 0; n < 30; n++) {
    for (const worker of workers) worker.wake();
    await queued();
  }
  expect(calls).toHaveLength(1);
  answer();
  await Promise.all(workers.map((worker) => worker.stop(1_000)));
});

test('a state that the core failed waits for its time, however often the worker is woken', async () => {
  let calls = 0;
  const worker = service.startCore(
    {
      async setService() {
        calls += 1;
        return { kind: 'failed', reason: { code: 'network_unavailable', message: 'HTTP 500' } };
      },
    },
    { retryScheduleMs: [3_600_000] },
  );
  const states = 'select count(*)::integer as count from core_queue where failures = 0';
  await until(
    async () => (await service.db.pool.query(states)).rows[0].count,
    (count) => count === 0,
  );
  const before = calls;
  for (let n = 0; n < 10; n++) {
    worker.wake();
    await queued();
  }
  await worker.stop(1_000);
  expect(calls).toBe(before);
  await service.db.pool.query('delete from core_queue');
});

test('a state that failed as often as the schedule has pauses waits for the last of them', async () => {
  await service.db.pool.query('delete from core_queue where iccid <> $1', [iccid]);
  await service.db.pool.query('update core_queue set failures = 7');
  const reason = { code: 'network_unavailable', message: 'HTTP 500' } as const;
  const failing: Core = { setService: async () => ({ kind: 'failed', reason }) };
  const worker = service.startCore(failing, { retryScheduleMs: [1, 3_600_000] });
  const state = `select failures, due_at > now() + interval '30 minutes' as waits from core_queue`;
  const [row] = await until(
    async () => (await service.db.pool.query(state)).rows,
    ([{ failures }]) => failures > 7,
  );
  await worker.stop(1_000);
  expect(row).toEqual({ failures: 8, waits: true });
  await service.db.pool.query('delete from core_queue');
});

test('while the core is down, only a probe is claimed, and the others wait untouched', async () => {
  const calls: string[] = [];
  const down: Core = {
    async setService({ id }): Promise<Reply<never>> {
      calls.push(id);
      return { kind: 'failed', reason: { code: 'network_unavailable', message: 'down' }, isDown: true };
    },
  };
  const worker = service.startCore(down, {
    pause: { afterFailures: 1, pauseMs: 3_600_000 },
    concurrency: 1,
    retryScheduleMs: [3_600_000],
  });
  await until(
    async () => calls.length,
    (count) => count > 0,
  );
  for (let n = 0; n < 3; n++) worker.wake();
  await worker.stop(1_000);
  const leased =
    "select 1 from core_queue where leased_until is not null or due_at > now() + interval '2 seconds'";
  expect(await service.db.query({ name: 'test_touched', text: leased }, [])).toEqual([]);
  expect(calls).toHaveLength(1);
});

test('a state whose call ended with the process is due at once elsewhere, and no failure is counted', async () => {
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const worker = service.startCore({
    setService: ({ id, signal }) =>
      new Promise((resolve) => {
        if (id.startsWith(iccid)) asked();
        const reason = { code: 'network_unavailable', message: 'aborted' } as const;
        signal.addEventListener('abort', () => resolve({ kind: 'failed', reason }));
      }),
  });
  await isAsked;
  await worker.stop(0);
  const text = 'select failures, leased_until, due_at <= now() as is_due from core_queue where iccid = $1';
  const { rows } = await service.db.pool.query(text, [iccid]);
  expect(rows).toEqual([{ failures: 0, leased_until: null, is_due: true }]);
});

test('an answer of the core makes only changes due that wait for the core', async () => {
  const later = "now() + interval '1 hour'";
  const progress = [`{"waiting_for": "core"}`, `{"waiting_for": "network"}`];
  const rows = ['esim.suspend', 'esim.terminate'].map((type, n) => {
    const id = uuidText(service.service.newUuid());
    return `('${service.accountUuid}', '${id}', '${type}', '${iccid}', '{}', now(), ${later}, '${progress[n]}')`;
  });
  const columns = 'account_id, id, type, iccid, input, created_at, due_at, progress';
  await service.db.pool.query(`insert into execution_queue (${columns}) values ${rows.join()}`);
  expect(await wakeChanges(service.db, service.accountUuid, iccid)).toBe(1);
  // The worker may have the suspension by now.
  const left = `delete from execution_queue where iccid = $1 and type = 'esim.terminate' returning due_at > now() as waits`;
  expect((await service.db.pool.query(left, [iccid])).rows).toEqual([{ waits: true }]);
});

test('a suspension ends when the core has it, without waiting for the next look', async () => {
  const worker = service.startCore({ setService: async () => ({ kind: 'done', result: {} }) });
  const { json } = await call(service, 'POST', `/v1/esims/${iccid}/suspend`);
  const done = await until(
    async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json,
    ({ status }) => status === 'succeeded',
    60_000,
  );
  expect(done.finished_at - done.created).toBeLessThan(60);
  await worker.stop(1_000);
});

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Core, Reply } from '../../src/network/port.ts';
import { lockOwnEsim } from '../../src/orders/esims/lock.ts';
import { createChangeRunner } from '../../src/orders/esims/run-change.ts';
import { ClaimLost, hold } from '../../src/orders/executions/hold.ts';
import { type ClaimedExecution, type Deps, wakeChanges } from '../../src/orders/executions/runner.ts';
import {
  claimServices,
  postponeService,
  storeApplied,
  storeRefused,
} from '../../src/orders/service/core-sql.ts';
import { endServices } from '../../src/orders/service/end-due.ts';
import { continueResync } from '../../src/orders/service/resync.ts';
import { queueAgain } from '../../src/orders/service/resync-sql.ts';
import { verdictOf } from '../../src/orders/service/verdict.ts';
import { refreshService } from '../../src/orders/service/write.ts';
import { idOfUuid, uuidText } from '../../src/platform/ids/uuid.ts';
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
  const waits = 'extract(epoch from due_at - now()) between 3000 and 3600 as waits';
  expect(await rows(waits)).toEqual([{ waits: true }]);
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

test('a newer version keeps the place of one that waits, and gets a new one after a refusal', async () => {
  const read = async (text: string) => (await service.db.pool.query(text, [iccid])).rows[0];
  const place = `select id, since < now() - interval '50 minutes' as is_old from core_queue where iccid = $1`;
  await read(`update core_queue set since = now() - interval '1 hour' where iccid = $1`);
  const first = await read(place);
  await inTransaction(() => ({ status: 'suspended' }));
  expect(await read(place)).toEqual({ ...first, is_old: true });
  const refused = { account_id: service.accountUuid, iccid, version: 2 };
  await storeRefused(service.db, refused, { code: 'declined', message: 'no' });
  await inTransaction(() => ({ status: 'provisioned' }));
  expect(await read(place)).toEqual({ id: expect.not.stringMatching(first.id), is_old: false });
});

test('a resync sends a refused state as one that has never been sent', async () => {
  const read = async (text: string) => (await service.db.pool.query(text, [iccid])).rows;
  const [refused] = await read(
    `update core_queue
     set is_refused = true, failures = 3, error = '{"message": "no"}', since = now() - interval '1 hour',
       due_at = now() + interval '1 hour'
     where iccid = $1
     returning id`,
  );
  const key = await service.createKey({ scopes: ['operator'] });
  expect((await call(service, 'POST', '/v1/operator/core/resync', { key })).status).toBe(202);
  await continueResync(service.db, service.service);
  const state = `id, is_refused, failures, error, due_at <= now() as is_due, since > now() - interval '50 minutes' as is_new`;
  expect(await read(`select ${state} from core_queue where iccid = $1`)).toEqual([
    {
      ...{ id: expect.not.stringMatching(refused.id), is_refused: false, failures: 0, error: null },
      ...{ is_due: true, is_new: true },
    },
  ]);
});

test('an eSIM whose service is not known yet is not sent again', async () => {
  const unknown = await insertEsim(service);
  const ids = 'select account_id, id from esims where iccid = any($1) order by iccid';
  const { rows } = await service.db.pool.query(ids, [[unknown, iccid]]);
  const given = rows.map((row) => ({ ...row, uuid: randomUUID(), at: new Date() }));
  await service.db.pool.query('delete from core_queue');
  await queueAgain(service.db, given);
  expect((await service.db.pool.query('select iccid from core_queue')).rows).toEqual([{ iccid }]);
});

test('a state that the core confirms again, as after a resync, is confirmed since then', async () => {
  const key = { account_id: service.accountUuid, iccid, version: 1 };
  for (const day of ['2026-01-01', '2026-01-02']) {
    expect(await storeApplied(service.db, key, new Date(day))).toBe(true);
    const text = 'select applied_version, applied_at from esims where iccid = $1';
    expect((await service.db.pool.query(text, [iccid])).rows).toEqual([
      { applied_version: 1, applied_at: new Date(day) },
    ]);
  }
});

test('a refused state is held by nobody, and a failure of the same call elsewhere changes nothing of it', async () => {
  const read = async (text: string) => (await service.db.pool.query(text, [iccid])).rows;
  const key = { account_id: service.accountUuid, iccid, version: 1 };
  const reason = { code: 'declined', message: 'no' } as const;
  await read(`update core_queue set leased_until = now() + interval '1 hour' where iccid = $1`);
  expect(await storeRefused(service.db, key, reason)).toBe(true);
  const before = await read('select * from core_queue where iccid = $1');
  expect(before).toMatchObject([{ is_refused: true, failures: 0, leased_until: null }]);
  expect(await postponeService(service.db, key, { delayMs: 3_600_000, reason })).toBe(false);
  expect(await read('select * from core_queue where iccid = $1')).toEqual(before);
});

test('a change is refused with a newer version that includes it, and not with an older one', async () => {
  await inTransaction(() => ({ status: 'suspended' }));
  const esim = { account_id: service.accountUuid, iccid };
  await storeRefused(service.db, { ...esim, version: 2 }, { code: 'declined', message: 'no' });
  const verdict = (version: number) =>
    verdictOf(service.db, {
      ...{ ...esim, applied_version: null },
      pending_change: { change: 'suspend', execution_id: '', version },
    });
  expect([await verdict(1), await verdict(3)]).toMatchObject([{ kind: 'refused' }, null]);
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
  const holder = '00000000-0000-4000-8000-000000000001';
  const claim = (count: number, afterAccount = lowestUuid) =>
    claimServices(service.db, { count, holder, leaseMs: 60_000, afterAccount, exceptAccounts: [] });
  let accounts: string[];
  beforeEach(async () => {
    await service.db.pool.query('delete from core_queue');
    accounts = [];
    for (const name of ['one', 'other']) {
      const { accountUuid } = await service.createAccount(name);
      accounts.push(accountUuid);
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

  test('has as many as are asked for, begins after the given account, and names its worker', async () => {
    const named = async (...given: Parameters<typeof claim>) =>
      (await claim(...given)).map((one) => one.iccid);
    expect([await named(1), await named(1, accounts[0])]).toEqual([['one8'], ['other8']]);
    const leased = `select iccid, holder, extract(epoch from leased_until - now()) between 1 and 60 as is_held
      from core_queue where leased_until is not null order by iccid`;
    expect((await service.db.pool.query(leased)).rows).toEqual([
      { iccid: 'one8', holder, is_held: true },
      { iccid: 'other8', holder, is_held: true },
    ]);
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

  test('is its very time, unless the process stops', async () => {
    const [ending, at] = [await insertEnding(), new Date('2026-01-01')];
    const read = async (text: string, values: unknown[]) => (await service.db.pool.query(text, values)).rows;
    await read('update esims set service_ends_at = $2 where iccid = $1', [ending, at]);
    const endAt = async (ms: number, stopping?: AbortSignal) => {
      await endServices(service.db, { ...service.service, clock: { nowMs: () => ms } }, stopping);
      return read('select service_ends_at as ends from esims where iccid = $1', [ending]);
    };
    expect(await endAt(at.getTime() - 1)).toEqual([{ ends: at }]);
    expect(await endAt(at.getTime(), AbortSignal.abort())).toEqual([{ ends: at }]);
    expect(await endAt(at.getTime())).toEqual([{ ends: null }]);
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

test('an answer of the core makes only changes of its eSIM due that wait for the core, and none that a worker holds', async () => {
  const later = "now() + interval '1 hour'";
  const rows = (
    [
      ['esim.suspend', iccid, 'core', 'null'],
      ['esim.terminate', iccid, 'network', 'null'],
      ['esim.resume', iccid, 'core', later],
      ['esim.suspend', '8999901000000000999', 'core', 'null'],
    ] as const
  ).map(([type, of, cause, leasedUntil]) => {
    const id = uuidText(service.service.newUuid());
    const progress = `{"waiting_for": "${cause}"}`;
    return { id, sql: `('${id}', '${type}', '${of}', '${progress}', ${leasedUntil}, ${later})` };
  });
  await service.db.pool.query(
    `insert into execution_queue (account_id, id, type, iccid, progress, leased_until, due_at, input, created_at)
     select $1, id::uuid, type, iccid, progress::jsonb, leased_until::timestamptz, due_at, '{}', now()
     from (values ${rows.map(({ sql }) => sql).join()}) given (id, type, iccid, progress, leased_until, due_at)`,
    [service.accountUuid],
  );
  expect(await wakeChanges(service.db, service.accountUuid, iccid)).toBe(1);
  // The worker may have the first one by now.
  const others = 'delete from execution_queue where id = any($1) returning due_at > now() as waits';
  const left = await service.db.pool.query(others, [rows.slice(1).map(({ id }) => id)]);
  expect(left.rows).toEqual([{ waits: true }, { waits: true }, { waits: true }]);
});

test('a change that is proposed while the core answers goes on at once: the answer waits for it', async () => {
  const id = randomUUID();
  await service.db.pool.query('delete from core_queue where iccid <> $1', [iccid]);
  const other = await service.db.pool.connect();
  await other.query('begin');
  await other.query('select from esims where iccid = $1 for update', [iccid]);
  const worker = service.startCore({ setService: async () => ({ kind: 'done', result: {} }) });
  await untilLockIsAwaited(service);
  const pending = { change: 'suspend', execution_id: id, version: 1 };
  await other.query('update esims set pending_change = $2 where iccid = $1', [iccid, pending]);
  await other.query(
    `insert into execution_queue (account_id, id, type, product_id, iccid, input, progress, created_at, due_at)
     values ($1, $2, 'esim.suspend', 'p', $3, '{}', '{"waiting_for": "core"}', now(), now() + interval '1 hour')`,
    [service.accountUuid, id, iccid],
  );
  await other.query('commit');
  other.release();
  await until(
    async () => (await call(service, 'GET', `/v1/executions/${idOfUuid('exec', id)}`)).json,
    ({ status }) => status === 'succeeded',
  );
  await worker.stop(1_000);
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

describe('a resync of many states', () => {
  const first = '8999909000000000001';
  const last = '8999909000000000201';
  const read = async (text: string, values: unknown[] = []) =>
    (await service.db.pool.query(text, values)).rows;
  const begin = (afterIccid: string) =>
    read('update core_resync set after_iccid = $1, esims = 0, finished_at = null', [afterIccid]);
  const reached = () =>
    read('select after_iccid, esims, finished_at is not null as is_over from core_resync');
  const states = async () => (await read('select count(*)::integer as count from core_queue'))[0].count;
  let createdAt: number;

  beforeAll(async () => {
    const key = await service.createKey({ scopes: ['operator'] });
    const ask = async () => (await call(service, 'POST', '/v1/operator/core/resync', { key })).json.created;
    createdAt = await ask();
    service.clock.advance(60_000);
    expect(await ask()).toBeGreaterThanOrEqual(createdAt + 60);
    await read(
      `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
       select $1, gen_random_uuid(), '8999909' || lpad(n::text, 12, '0'), gen_random_uuid(), 'p', 'provisioned', '{}', now()
       from generate_series(1, 201) n`,
      [service.accountUuid],
    );
  });
  beforeEach(() => read('delete from core_queue'));

  test('goes on after a full batch, and ends after the last one, also if that was full', async () => {
    for (const [after, count] of [
      ['8999909', 201],
      [first, 200],
    ] as const) {
      await begin(after);
      await continueResync(service.db, service.service, AbortSignal.abort());
      expect(await reached()).toEqual([{ after_iccid: after, esims: 0, is_over: false }]);
      await continueResync(service.db, service.service);
      expect(await reached()).toEqual([{ after_iccid: last, esims: count, is_over: true }]);
    }
    // What older releases did not know is no news.
    const { json } = await call(service, 'GET', `/v1/events?iccid=${last}`);
    expect(json.data).toEqual([]);
  });

  test('waits for an eSIM that a request is changing, whose newest state is then sent', async () => {
    await begin('8999909');
    const other = await service.db.pool.connect();
    await other.query('begin');
    await other.query('select from esims where iccid = $1 for update', [last]);
    const going = continueResync(service.db, service.service);
    const seen = await Promise.race([
      going.then(() => 'passed over'),
      untilLockIsAwaited(service).then(() => 'waited'),
    ]);
    await other.query('rollback');
    other.release();
    await going;
    expect(seen).toBe('waited');
  });

  test('is not held up by refused states, nor, where no core gets states, by those that wait', async () => {
    await read(
      `insert into core_queue (account_id, iccid, id, version, service, since, due_at)
       select $1, 'flood-' || n, gen_random_uuid(), 1, '{}', now(), now() from generate_series(1, 1000) n`,
      [service.accountUuid],
    );
    await begin(first);
    await continueResync(service.db, { ...service.service, core: 'none' });
    expect([await reached(), await states()]).toMatchObject([[{ esims: 200, is_over: true }], 1_000]);
    await begin(first);
    await continueResync(service.db, service.service);
    expect(await reached()).toMatchObject([{ esims: 0, is_over: false }]);
    await read('update core_queue set is_refused = true');
    await continueResync(service.db, service.service);
    expect([await reached(), await states()]).toMatchObject([[{ esims: 200, is_over: true }], 1_200]);
    await read('delete from core_queue');
  });
});

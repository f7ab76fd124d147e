import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network, Observation } from '../../src/network/port.ts';
import { listEsimRows } from '../../src/orders/esims/sql/list.ts';
import { createClaimWindow } from '../../src/orders/executions/claim-window.ts';
import { listExecutionRows } from '../../src/orders/executions/sql/executions.ts';
import {
  type ClaimedExecution,
  claimExecutionRows,
  finishRow,
  release,
  releaseOrphanedExecutions,
  saveProgressRows,
} from '../../src/orders/executions/sql/queue.ts';
import { observe } from '../../src/orders/observations/observe.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { downloadFailure } from '../support/profile-failure.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

const mock = createMockNetwork({ delayMs: 0 });
const worker = '00000000-0000-4000-8000-000000000001';

async function get(path: string) {
  return (await call(service, 'GET', path)).json;
}

function settled(executionId: string) {
  return until(
    () => get(`/v1/executions/${executionId}`),
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

async function order(productId = 'prod_europe_5gb_30d') {
  const { json } = await provision(service, undefined, { product_id: productId });
  return settled(json.id);
}

async function sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await service.db.pool.query<Row>(text, values)).rows;
}

/** Blocks a network step until `open` is called. */
function gate() {
  let open = () => {};
  let reach = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const pass = () => {
    reach();
    return opened;
  };
  return { open, reached, pass };
}

const confirmingAfter = ({ pass }: { pass(): Promise<void> }): Network => ({
  ...mock,
  confirm: async (asked) => {
    await pass();
    return mock.confirm(asked);
  },
});

/** Starts an order whose confirmation waits for `open`. */
async function startBlocked(body?: object) {
  const blocked = gate();
  service.startWorker(confirmingAfter(blocked));
  const { json: accepted } = await provision(service, undefined, body);
  await blocked.reached;
  const { iccid } = await get(`/v1/executions/${accepted.id}`);
  return { open: blocked.open, accepted, iccid };
}

const minute = { delayMs: 60_000, waitingFor: 'network', progress: { failures: 1 } } as const;

async function endLease(executionId: string): Promise<void> {
  await sql('update execution_queue set leased_until = now() where id = $1', [uuidOfId('exec', executionId)]);
}

describe('a worker whose lease expired, while its successor still runs', () => {
  test('settles nothing: the order ends when the successor settles it', async () => {
    const [first, successor] = [gate(), gate()];
    // Its only slot is taken; otherwise it would claim the order again itself.
    const stale = service.startWorker(confirmingAfter(first), { concurrency: 1 });
    const { json: accepted } = await provision(service);
    await first.reached;
    await endLease(accepted.id);
    service.startWorker(confirmingAfter(successor));
    await successor.reached;
    first.open();
    await stale.stop(30_000); // its settle has been written or rejected
    expect(await get(`/v1/executions/${accepted.id}`)).toMatchObject({ status: 'running', attempts: 2 });
    expect((await get('/v1/events')).data).toEqual([]);
    successor.open();
    expect(await settled(accepted.id)).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect((await get('/v1/events')).data).toHaveLength(1);
  });

  async function claimTwice(): Promise<[ClaimedExecution, ClaimedExecution]> {
    const { json: accepted } = await provision(service);
    const claim = async () => {
      const { executions } = await claimExecutionRows(service.db, {
        count: 1,
        holder: worker,
        leaseMs: 60_000,
        since: null,
        iccids: [],
      });
      return executions[0] as ClaimedExecution;
    };
    const first = await claim();
    await endLease(accepted.id);
    return [first, await claim()];
  }

  test.each<[string, (first: ClaimedExecution) => Promise<unknown>]>([
    ['end', (first) => finishRow(service.db, first, { error: null, at: new Date() })],
    ['release', (first) => release(service.db, first, minute)],
    [
      'save progress of',
      (first) =>
        saveProgressRows(service.db, [{ execution: first, progress: { is_ordered: true }, leaseMs: 1 }]),
    ],
  ])('cannot %s the execution', async (_, write) => {
    const [first] = await claimTwice();
    const rows = () => sql('select * from execution_queue');
    const before = await rows();
    await write(first);
    expect(await rows()).toEqual(before);
    expect(await sql('select from executions')).toEqual([]);
  });

  test('cannot write after it has released the execution', async () => {
    const [, successor] = await claimTwice();
    await release(service.db, successor, minute);
    expect(await finishRow(service.db, successor, { error: null, at: new Date() })).toBe(false);
    expect(await sql('select from execution_queue')).toHaveLength(1);
  });
});

test('paging through executions shows each exactly once while they end', async () => {
  const accepted = await Promise.all(Array.from({ length: 60 }, () => provision(service)));
  const expected = accepted.map(({ json }) => json.id).sort();
  service.startWorker(mock, { concurrency: 2 });
  for (let isOver = false; !isOver; ) {
    isOver = (await sql('select from execution_queue')).length === 0;
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const page = await get(`/v1/executions?limit=7${cursor}`);
      seen.push(...page.data.map(({ id }: { id: string }) => id));
      if (!page.has_more) break;
      cursor = `&starting_after=${page.next_cursor}`;
    }
    expect(seen.toSorted()).toEqual(expected);
    expect(new Set(seen).size).toBe(seen.length);
  }
});

test('an order is in the queue or in the history, and moves when it ends', async () => {
  const places = () =>
    sql<{ place: string }>(
      `select 'queue' as place from execution_queue union all select 'history' from executions`,
    );
  await provision(service);
  expect(await places()).toEqual([{ place: 'queue' }]);
  service.startWorker(mock);
  await until(places, ([row]) => row?.place === 'history');
  expect(await places()).toEqual([{ place: 'history' }]);
});

describe('claims', () => {
  /** One connection, so that its statistics can be flushed. */
  async function connect(): Promise<{ client: pg.Client; db: Queryable }> {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    await client.query('set enable_seqscan = off');
    const db: Queryable = {
      async query({ name, text }, values = []) {
        return (await client.query({ name, text, values })).rows;
      },
    };
    return { client, db };
  }

  /** Reads one of PostgreSQL's own counters, including the statements that this client has just run. */
  async function readCounter(client: pg.Client, counter: string, source: string): Promise<number> {
    await client.query('select pg_stat_force_next_flush()');
    await client.query('select pg_stat_clear_snapshot()');
    const { rows } = await client.query<{ count: string }>(`select ${counter} as count from ${source}`);
    return Number(rows[0]?.count);
  }

  const readPagesRead = (client: pg.Client) =>
    readCounter(
      client,
      'heap_blks_hit + heap_blks_read',
      `pg_statio_user_tables where relname = 'execution_queue'`,
    );

  async function fill(count: number, dueAgoMs: number, type = 'bundle.add'): Promise<void> {
    await sql(
      `insert into execution_queue (account_id, id, type, product_id, input, due_at, created_at)
       select $1, gen_random_uuid(), $4, 'prod_us_1gb_7d', '{}', now() - $3 * interval '1 ms', now()
       from generate_series(1, $2)`,
      [service.accountUuid, count, dueAgoMs, type],
    );
  }

  test('do not read ended executions, even while a held snapshot keeps their rows', async () => {
    const { client, db } = await connect();
    const holder = new pg.Client({ connectionString: service.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin isolation level repeatable read');
      await holder.query('select from accounts');
      await fill(5_000, 60_000);
      await sql('delete from execution_queue');
      const entriesRead = () =>
        readCounter(
          client,
          'idx_tup_read',
          `pg_stat_user_indexes where indexrelname = 'execution_queue_due'`,
        );
      const claimInWindow = createClaimWindow(service.clock, () => 0); // time stands still, so only the first claim is a fallback scan
      const claim = () =>
        claimInWindow((since) =>
          claimExecutionRows(db, { count: 1, holder: worker, leaseMs: 60_000, since, iccids: [] }),
        );
      await fill(20, 0);
      expect((await claim()).executions).toHaveLength(1); // the fallback scan, over all rows
      const before = await entriesRead();
      for (let n = 0; n < 10; n++) expect((await claim()).executions).toHaveLength(1);
      expect((await entriesRead()) - before).toBeLessThan(2_000);
    } finally {
      await holder.end();
      await client.end();
    }
  });

  test('do not slow lists: a page does not read the backlog, even with a plan made for an empty queue', async () => {
    const { client, db } = await connect();
    try {
      await sql('delete from execution_queue');
      await client.query('analyze execution_queue');
      const page = { beforeUuid: null, count: 10 };
      const { accountUuid } = service;
      const lists = [
        () => listExecutionRows(db, accountUuid, { status: 'running' }, page),
        () => listExecutionRows(db, accountUuid, { types: ['esim.suspend', 'esim.resume'] }, page),
        () => listEsimRows(db, accountUuid, {}, page),
        () => listEsimRows(db, accountUuid, { status: 'provisioning' }, page),
      ];
      for (const list of lists) for (let n = 0; n < 8; n++) await list(); // until the generic plan is chosen and cached
      await fill(20_000, 0, 'esim.provision');
      const pagesRead = () => readPagesRead(client);
      for (const list of lists) {
        const before = await pagesRead();
        await list();
        expect((await pagesRead()) - before).toBeLessThan(100);
      }
    } finally {
      await client.end();
    }
  });

  test('look up rows by ctid, even with a plan made for an empty queue', async () => {
    const { client, db } = await connect();
    try {
      await client.query('analyze execution_queue');
      const claim = (count: number) =>
        claimExecutionRows(db, { count, holder: worker, leaseMs: 60_000, since: null, iccids: [] });
      for (let n = 0; n < 8; n++) await claim(1); // until the generic plan is chosen and cached
      await fill(20_000, 0);
      const pagesRead = () => readPagesRead(client);
      const before = await pagesRead();
      const { executions } = await claim(32);
      expect(executions).toHaveLength(32);
      expect((await pagesRead()) - before).toBeLessThan(1_000);
      const saved = await pagesRead();
      await saveProgressRows(
        db,
        executions.map((execution) => ({ execution, progress: {}, leaseMs: 60_000 })),
      );
      for (const execution of executions) await finishRow(db, execution, { error: null, at: new Date() });
      expect((await pagesRead()) - saved).toBeLessThan(1_000);
    } finally {
      await client.end();
    }
  });

  const claimOne = (db: Queryable, since: Date | null = null) =>
    claimExecutionRows(db, { count: 1, holder: worker, leaseMs: 60_000, since, iccids: [] });

  test('take what is due longest first, and pass over what a request has locked', async () => {
    for (const dueAgoMs of [1_000, 3_000, 2_000]) await fill(1, dueAgoMs);
    const due = (await sql<{ id: string }>('select id from execution_queue order by due_at')).map(
      ({ id }) => id,
    );
    await service.db.transaction(async (tx) => {
      await tx.query({ name: 'test_lock', text: 'select from execution_queue where id = $1 for update' }, [
        due[0],
      ]);
      expect((await claimOne(service.db)).executions).toMatchObject([{ id: due[1] }]);
    });
    expect((await claimOne(service.db)).executions).toMatchObject([{ id: due[0] }]);
  });

  test('find what has just come due, although the last claim was later: the clock was set back', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000);
    // One transaction, so that the execution is due at the very moment of the claim.
    const { executions } = await service.db.transaction(async (tx) => {
      const text = `insert into execution_queue (account_id, id, type, product_id, input, due_at, created_at)
       values ($1, gen_random_uuid(), 'bundle.add', 'prod_us_1gb_7d', '{}', now(), now())`;
      await tx.query({ name: 'test_due_now', text }, [service.accountUuid]);
      return claimOne(tx, inAnHour);
    });
    expect(executions).toHaveLength(1);
  });

  test('last longer with each stored step, which keeps what earlier ones stored', async () => {
    await fill(1, 1_000);
    const [execution] = (await claimOne(service.db)).executions as [ClaimedExecution];
    const lasts = (low: number, high: number) =>
      sql(`select extract(epoch from leased_until - now()) between $1 and $2 as is_so from execution_queue`, [
        low,
        high,
      ]);
    expect(await lasts(30, 60)).toEqual([{ is_so: true }]);
    const save = (progress: object) =>
      saveProgressRows(service.db, [{ execution, progress, leaseMs: 3_600_000 }]);
    expect([await save({ first: 1 }), await save({ second: 2 })]).toEqual([[true], [true]]);
    expect(await sql('select progress from execution_queue')).toEqual([
      { progress: { first: 1, second: 2 } },
    ]);
    expect(await lasts(3_000, 3_600)).toEqual([{ is_so: true }]);
  });

  test('are ended with a new fence when their process is dead', async () => {
    await fill(1, 1_000);
    const [first] = (await claimOne(service.db)).executions as [ClaimedExecution];
    expect(await releaseOrphanedExecutions(service.db)).toBe(1);
    expect(await sql('select fence, leased_until from execution_queue')).toEqual([
      { fence: first.fence + 1, leased_until: null },
    ]);
  });

  test('of a dead process are ended, and what nobody holds stays as it is, so it can still be canceled', async () => {
    await fill(2, 1_000);
    await claimOne(service.db);
    expect(await releaseOrphanedExecutions(service.db)).toBe(1);
    expect(await sql('select fence from execution_queue order by fence')).toEqual([
      { fence: 0 },
      { fence: 2 },
    ]);
  });

  test('find executions that came due before the last claim: an expired lease, a transaction that committed late', async () => {
    service.startWorker(mock, { pollMs: 50 });
    await order();
    await fill(1, 3_600_000);
    await until(
      () => sql('select from execution_queue where attempts > 0'),
      (rows) => rows.length === 1,
    );
  });
});

test('while a resume is open another change is refused, and the refusal is stored under its key', async () => {
  const { open, reached, pass } = gate();
  service.startWorker({
    ...mock,
    resume: async (asked) => {
      await pass();
      return mock.resume(asked);
    },
  });
  const { iccid } = await order();
  const { json: suspension } = await call(service, 'POST', `/v1/esims/${iccid}/suspend`);
  await settled(suspension.id);
  const { json: resumption } = await call(service, 'POST', `/v1/esims/${iccid}/resume`);
  await reached;
  const terminate = () => call(service, 'DELETE', `/v1/esims/${iccid}`, { idempotencyKey: 'refused' });
  const refusal = await terminate();
  expect([refusal.status, refusal.json.error.code]).toEqual([409, 'state_conflict']);
  expect(refusal.json.error.message).toContain(resumption.id);
  open();
  await settled(resumption.id);
  // A repeated request gets the stored answer, although the change would be accepted now.
  const again = await terminate();
  expect([again.status, again.text]).toEqual([409, refusal.text]);
  expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  expect(await get(`/v1/esims/${iccid}`)).toMatchObject({ status: 'provisioned' });
});

test('settling an order keeps the profile state that the network has reported', async () => {
  const { open, accepted, iccid } = await startBlocked();
  const at = new Date(Math.floor(service.clock.nowMs() / 1000) * 1000 - 5_000);
  await service.db.transaction((tx) =>
    observe(tx, { iccid, at, kind: 'profile', state: 'downloaded' }, service.service),
  );
  open();
  await settled(accepted.id);
  expect((await get(`/v1/esims/${iccid}`)).profile).toEqual({
    state: 'downloaded',
    updated_at: at.getTime() / 1000,
  });
});

test.each(['error', 'downloaded'] as const)(
  'an order in progress shows a failed download, and the eSIM keeps it unless it succeeded later (%s)',
  async (last) => {
    const { open, accepted, iccid } = await startBlocked();
    const at = new Date(service.clock.nowMs());
    const seen = { iccid, at, kind: 'profile', state: 'error', failure: downloadFailure } as const;
    await service.db.transaction((tx) => observe(tx, seen, service.service));
    expect((await get(`/v1/esims/${iccid}`)).profile.error).toEqual(downloadFailure.error);
    if (last === 'downloaded') {
      await service.db.transaction((tx) => observe(tx, { ...seen, state: last }, service.service));
    }
    open();
    await settled(accepted.id);
    const error = last === 'error' ? downloadFailure.error : null;
    expect((await get(`/v1/esims/${iccid}`)).profile.error).toEqual(error ?? undefined);
    const text = 'select profile_error from esims where account_id = $1 and iccid = $2';
    const query = { name: 'test_profile_error', text };
    expect(await service.db.query(query, [service.accountUuid, iccid])).toEqual([{ profile_error: error }]);
  },
);

test('unlimited data has no thresholds, neither in the first bundle nor in a top-up', async () => {
  service.startWorker(mock);
  const { iccid } = await order('prod_th_unlimited_10d');
  const { json } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, {
    body: { product_id: 'prod_europe_unlimited_15d', any_region: true },
  });
  await settled(json.id);
  const { data } = await get(`/v1/esims/${iccid}/bundles`);
  expect(
    data.map((bundle: { data_bytes: null; thresholds: number[] }) => [bundle.data_bytes, bundle.thresholds]),
  ).toEqual([
    [null, []],
    [null, []],
  ]);
});

test('a lease that could expire before the next call ends is renewed between two steps', async () => {
  const leases: (Date | null)[] = [];
  const look = async () => {
    const [row] = await sql<{ leased_until: Date | null }>('select leased_until from execution_queue');
    leases.push(row?.leased_until ?? null);
  };
  service.startWorker(
    {
      ...mock,
      order: async (asked) => {
        await look();
        await delay(20);
        return mock.order(asked);
      },
      confirm: async (asked) => {
        await look();
        return mock.confirm(asked);
      },
    },
    // After the first call the lease has too little time left for another one.
    { leaseMs: 10_001, networkTimeoutMs: 10_000 },
  );
  await order();
  const [first, second] = leases as [Date, Date];
  expect(second > first).toBe(true);
});

describe('an eSIM that is being provisioned', () => {
  const body = { product_id: 'prod_us_1gb_7d', metadata: { order_id: 'A-1' }, description: 'For Ada' };

  test('is read and listed with the same fields as after provisioning', async () => {
    const { open, accepted, iccid } = await startBlocked(body);
    const before = await get(`/v1/esims/${iccid}`);
    expect(before).toMatchObject({
      ...{ iccid, object: 'esim', status: 'provisioning', product_id: body.product_id, provisioned_at: null },
      ...{ metadata: body.metadata, description: body.description, eid: null },
      profile: { state: 'unknown', updated_at: null },
    });
    const listed = async (query: string) => (await get(`/v1/esims${query}`)).data;
    for (const query of ['', '?status=provisioning', `?product_id=${body.product_id}`]) {
      expect(await listed(query)).toEqual([before]);
    }
    expect(await listed('?status=provisioned')).toEqual([]);
    expect(await listed('?product_id=prod_europe_5gb_30d')).toEqual([]);
    expect((await call(service, 'GET', `/v1/esims/${iccid}/install`)).json.error.code).toBe('esim_not_ready');
    expect((await get(`/v1/esims/${iccid}/bundles`)).data).toEqual([]);
    open();
    await settled(accepted.id);
    const after = await get(`/v1/esims/${iccid}`);
    expect(after).toEqual({
      ...before,
      status: 'provisioned',
      profile: { state: 'released', updated_at: expect.any(Number) },
      service: expect.objectContaining({ state: 'full', version: 1 }),
      provisioned_at: expect.any(Number),
    });
    expect(await listed('')).toEqual([after]);
  });

  test('is invisible to other accounts', async () => {
    const { open, accepted, iccid } = await startBlocked(body);
    const { key } = await service.createAccount('Stranger');
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/install'],
      ['DELETE', ''],
    ] as const) {
      expect((await call(service, method, `/v1/esims/${iccid}${path}`, { key })).status).toBe(404);
    }
    expect((await call(service, 'GET', '/v1/esims', { key })).json.data).toEqual([]);
    const records = [{ iccid, record_id: 'r', bytes: 1, at: Math.floor(service.clock.nowMs() / 1_000) }];
    const { json } = await call(service, 'POST', '/v1/usage_records', { key, body: { records } });
    expect(json.rejections).toMatchObject([{ iccid, reason: 'esim_unknown' }]);
    open();
    expect(await settled(accepted.id)).toMatchObject({ status: 'succeeded' });
  });

  test('counts no usage yet', async () => {
    const { open, accepted, iccid } = await startBlocked(body);
    const report = (record_id: string) =>
      call(service, 'POST', '/v1/usage_records', {
        body: { records: [{ iccid, record_id, bytes: 1, at: Math.floor(service.clock.nowMs() / 1_000) }] },
      });
    expect((await report('early')).json.rejections).toMatchObject([{ iccid, reason: 'esim_not_ready' }]);
    open();
    await settled(accepted.id);
    expect((await report('late')).json).toMatchObject({ accepted: 1, rejections: [] });
  });

  test('keeps everything that the network reports of it', async () => {
    const { open, accepted, iccid } = await startBlocked(body);
    const at = new Date(service.clock.nowMs());
    const eid = '89049032004008882600009231000001';
    const observations: Observation[] = [
      { iccid, at, kind: 'attach', country: 'FR' },
      { iccid, at, kind: 'profile', state: 'downloaded', eid },
    ];
    for (const observation of observations)
      await service.db.transaction((tx) => observe(tx, observation, service.service));
    open();
    await settled(accepted.id);
    expect(await sql('select country, eid from esims where iccid = $1', [iccid])).toEqual([
      { country: 'FR', eid },
    ]);
  });

  test('accepts no change except a termination, which wins over its order', async () => {
    const { open, accepted, iccid } = await startBlocked(body);
    const suspension = await call(service, 'POST', `/v1/esims/${iccid}/suspend`);
    expect([suspension.status, suspension.json.error.code]).toEqual([409, 'state_conflict']);
    const { json: termination } = await call(service, 'DELETE', `/v1/esims/${iccid}`);
    expect(await settled(termination.id)).toMatchObject({ status: 'succeeded' });
    expect(await get(`/v1/esims/${iccid}`)).toMatchObject({ status: 'terminated', metadata: body.metadata });
    expect((await get('/v1/esims')).data).toHaveLength(1);
    open();
    expect(await settled(accepted.id)).toMatchObject({ status: 'failed', error: { code: 'state_conflict' } });
    expect(await get(`/v1/esims/${iccid}`)).toMatchObject({ status: 'terminated' });
    expect((await get('/v1/events')).data.map(({ type }: { type: string }) => type).sort()).toEqual([
      'esim.provisioning_failed',
      'esim.terminated',
    ]);
  });

  test('and terminated while its order waits for the network, sends nothing more but the cancellation', async () => {
    const calls: string[] = [];
    const noted = <Answer>(name: string, answer: Answer): Answer => {
      calls.push(name);
      return answer;
    };
    const failed = { kind: 'failed', reason: { code: 'network_unavailable', message: 'down' } } as const;
    service.startWorker(
      {
        ...mock,
        order: (asked) => noted('order', mock.order(asked)),
        confirm: async () => noted('confirm', failed),
        cancel: (asked) => noted('cancel', mock.cancel(asked)),
      },
      { retryScheduleMs: [3_600_000] },
    );
    const { json } = await provision(service);
    const { iccid } = await until(
      () => get(`/v1/executions/${json.id}`),
      ({ waiting_for: cause }) => cause?.startsWith('The network failed'),
    );
    const { json: termination } = await call(service, 'DELETE', `/v1/esims/${iccid}`);
    expect(await settled(termination.id)).toMatchObject({ status: 'succeeded' });
    calls.length = 0;
    await sql('update execution_queue set due_at = now()');
    expect(await settled(json.id)).toMatchObject({ status: 'failed', error: { code: 'state_conflict' } });
    expect(calls).toEqual(['cancel']);
  });

  test('is found by a request that waited while it became ready', async () => {
    const { json: accepted } = await provision(service);
    const [iccid, uuid] = ['8999901000000009999', uuidOfId('exec', accepted.id)];
    await sql('update execution_queue set iccid = $1 where id = $2', [iccid, uuid]);
    let termination: ReturnType<typeof call> | undefined;
    await service.db.transaction(async (tx) => {
      const lock = 'select from execution_queue where id = $1 for update';
      await tx.query({ name: 'test_hold_order', text: lock }, [uuid]);
      termination = call(service, 'DELETE', `/v1/esims/${iccid}`);
      await untilLockIsAwaited(service);
      const settle = `with ended as (delete from execution_queue where id = $1 returning account_id, id, iccid, product_id)
        insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
        select account_id, id, iccid, id, product_id, 'provisioned', '{}', now() from ended`;
      await tx.query({ name: 'test_settle_order', text: settle }, [uuid]);
    });
    expect((await termination)?.status).toBe(202);
  });

  test('can be terminated even if it becomes ready during the request', async () => {
    service.startWorker(mock);
    const orders = await Promise.all(Array.from({ length: 20 }, () => provision(service)));
    const statuses = await Promise.all(
      orders.map(async ({ json }) => {
        const { iccid } = await until(
          () => get(`/v1/executions/${json.id}`),
          (execution) => execution.iccid !== null,
        );
        const termination = await call(service, 'DELETE', `/v1/esims/${iccid}`);
        expect(termination.status).toBe(202);
        await settled(termination.json.id);
        await settled(json.id);
        return (await get(`/v1/esims/${iccid}`)).status;
      }),
    );
    expect(statuses).toEqual(orders.map(() => 'terminated'));
    expect(await sql('select from esims')).toHaveLength(orders.length);
  });

  test('keeps its ICCID: another order that gets the same one from the network fails and names no eSIM', async () => {
    const blocked = gate();
    const iccid = '8988303000000000014';
    service.startWorker({
      ...confirmingAfter(blocked),
      iccids: 'theirs',
      order: async () => ({ kind: 'done', result: { iccid } }),
    });
    const { json: first } = await provision(service);
    await blocked.reached;
    expect(await order()).toMatchObject({
      status: 'failed',
      iccid: null,
      error: { code: 'outcome_unknown' },
    });
    blocked.open();
    expect(await settled(first.id)).toMatchObject({ status: 'succeeded', iccid });
    expect((await get('/v1/esims')).data).toHaveLength(1);
  });
});

test('paging through eSIMs shows each exactly once while they become ready', async () => {
  const accepted = await Promise.all(Array.from({ length: 60 }, () => provision(service)));
  const slow: Network = { ...mock, confirm: (asked) => delay(5).then(() => mock.confirm(asked)) };
  service.startWorker(slow, { concurrency: 4 });
  for (let isOver = false; !isOver; ) {
    isOver = (await sql('select from execution_queue')).length === 0;
    const known = await Promise.all(accepted.map(({ json }) => get(`/v1/executions/${json.id}`)));
    const expected = known.flatMap(({ iccid }) => iccid ?? []);
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const page = await get(`/v1/esims?limit=7${cursor}`);
      seen.push(...page.data.map((esim: { iccid: string }) => esim.iccid));
      if (!page.has_more) break;
      cursor = `&starting_after=${page.next_cursor}`;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(expected));
  }
  expect((await sql('select from esims')).length).toBe(60);
});

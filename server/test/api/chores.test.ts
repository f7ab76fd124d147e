import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { apiChores, startChores, workerChores } from '../../src/background/chores.ts';
import type { Service } from '../../src/background/service.ts';
import { beatAndReadWaiting, type Waiting } from '../../src/background/waiting.ts';
import { createWorkerBeat } from '../../src/background/worker-beat.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await service.db.pool.query('update core_resync set finished_at = now()');
});
afterAll(() => service.stop());

// What a chore does is tested with its feature, by calling it. This says that a process does call it.
test('a worker runs every chore, each as often as its users may wait', async () => {
  const statements: string[] = [];
  const db = {
    ...service.db,
    ...recorded(service.db, statements),
    transaction: <T>(work: (tx: Queryable) => Promise<T>) =>
      service.db.transaction((tx) => work(recorded(tx, statements))),
  };
  const begun: [string | undefined, number | string][] = [];
  for (const chore of workerChores({ ...service.service, db }, readConfig({}).config, () => {})) {
    const before = statements.length;
    await chore.run(new AbortController().signal);
    begun.push([statements[before], 'when' in chore ? chore.when : chore.everyMs]);
  }

  expect(Object.fromEntries(begun)).toEqual({
    bundle_lock_holders_due: 'bundles',
    service_lock_ending: 'services',
    core_resync_lock: 'resync',
    batch_lock_finishable: 'batches',
    closing_lock_next: 'closings',
    erasure_lock_next: 'erasures',
    recovery_close_hopeless: 'recoveries',
    failure_group_take_retry: 'groupRetries',
    ordered_set_positions: 'blocked',
    deployment_queue_deliveries: 'listeners',
    endpoint_take_health_reports: 'health',
    worker_end_leases_of_dead: 'deadWorkers',
    overview_claim_uncounted: 2_000,
    tables_without_statistics: 2_000,
    endpoint_cancel_undeliverable_blocked_deliveries: 10_000,
    idempotency_delete_expired: 60_000,
    session_delete_expired: 60_000,
    retention_add_ranges: 60_000,
    lease_delete_stale: 600_000,
    iccid_range_count: 600_000,
  });
});

const someone = 'a0000000-0000-4000-8000-000000000000';
const worker = (age: string, id = 'gen_random_uuid()') =>
  `insert into workers (id, beat_at) values (${id}, now() - interval '${age}')
   on conflict (id) do update set beat_at = excluded.beat_at`;
const endpoint = (columns: string, values: string) =>
  `insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, api_version, created_at, ${columns})
   values ('${someone}', '${someone}', '', '{}', '{}', 'enabled', '', now(), ${values})`;
const bundle = (status: string, expiresAt: string) =>
  `insert into bundles (account_id, id, iccid, product_id, status, used_bytes, thresholds, validity_days, created_at, expires_at)
   values ('${someone}', '${someone}', '1', 'one', '${status}', 0, '{}', 7, now(), ${expiresAt})`;
const batch = (finishedAt: string) =>
  `insert into batches (account_id, id, total, created_at, finished_at)
   values ('${someone}', '${someone}', 1, now(), ${finishedAt})`;
const closing = (finishedAt: string) =>
  `insert into account_closings (account_id, terminate_esims, finished_at) values ('${someone}', true, ${finishedAt})`;
const erasure = (finishedAt: string) =>
  `insert into erasures (account_id, id, requested_at, finished_at) values ('${someone}', '${someone}', now(), ${finishedAt})`;
const esim = (endsAt: string) =>
  `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at, service_ends_at)
   values ('${someone}', '${someone}', '1', '${someone}', 'one', 'active', '{}', now(), ${endsAt})`;
const recovery = (finishedAt: string) =>
  `insert into recoveries (account_id, id, endpoint_id, from_event, until_event, position, created_at, finished_at)
   select one, one, one, one, one, one, now(), ${finishedAt} from (select '${someone}'::uuid as one) _`;
const groupRetry = (finishedAt: string) =>
  `insert into failure_group_retries
     (id, group_id, status, account_id, execution_id, after_id, last_id, retried, origin, created_at, finished_at)
   select one, 'g', 'testing', one, one, one, one, 0, '{}', now(), ${finishedAt} from (select '${someone}'::uuid as one) _`;
const resolution = (closedAt: string) =>
  `insert into execution_resolutions (account_id, execution_id, outcome, decided_by, decided_at, closed_at)
   values ('${someone}', '${someone}', 'not_reserved', '{}', now(), ${closedAt})`;
const listener = (position: number) =>
  `with head as (insert into event_feed_heads (account_id, last_position, mark, newest_id) values ('${someone}', 5, 1, '${someone}'))
   insert into endpoint_places (account_id, endpoint_id, position) values ('${someone}', '${someone}', ${position})`;

test.each<[Waiting | null, string]>([
  ['bundles', bundle('active', `now() - interval '1 second'`)],
  [null, bundle('active', `now() + interval '1 hour'`)],
  [null, bundle('expired', `now() - interval '1 second'`)],
  ['services', esim(`now() - interval '1 second'`)],
  [null, esim(`now() + interval '1 hour'`)],
  [null, esim('null')],
  ['resync', 'update core_resync set finished_at = null'],
  ['batches', batch('null')],
  [null, batch('now()')],
  ['closings', closing('null')],
  [null, closing('now()')],
  ['erasures', erasure('null')],
  [null, erasure('now()')],
  ['recoveries', recovery('null')],
  [null, recovery('now()')],
  ['groupRetries', groupRetry('null')],
  [null, groupRetry('now()')],
  [
    'blocked',
    `insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, created_at)
     select one, one, one, one, 'event', 'k', now() from (select '${someone}'::uuid as one) _`,
  ],
  ['listeners', listener(4)],
  [null, listener(5)],
  ['health', endpoint('reported_health', `'recovered'`)],
  ['health', endpoint('failing_since', 'now()')],
  [null, endpoint('failing_since, reported_health', `now(), 'failing'`)],
  [null, endpoint('reported_health', 'null')],
  ['returns', resolution('null')],
  ['deadWorkers', worker('4.1 s')],
  [null, worker('3.9 s')],
  [null, worker('10 s', `'${someone}'`)],
  [null, resolution('now()')],
])('row %#: the chore of %s, and no other, is called for it', async (kind, insert) => {
  const client = await service.db.pool.connect();
  const db: Queryable = { query: async (statement, values) => (await client.query(statement, values)).rows };
  const waiting = async () =>
    Object.entries((await beatAndReadWaiting(db, beat)) ?? {}).flatMap(([name, is]) => (is ? [name] : []));
  onTestFinished(() => client.release(true));
  const beat = { at: new Date(), worker: someone, deadAfterMs: 4_000 };
  expect(await waiting()).toEqual([]);
  await client.query('begin');
  await client.query('set local session_replication_role = replica'); // without what the row belongs to
  await client.query(insert);
  expect(await waiting()).toEqual(kind === null ? [] : [kind]);
});

test('a chore runs while something waits for it, one run at a time, hears when it has to stop, and is waited for', async () => {
  const runs: AbortSignal[] = [];
  let finish = () => {};
  const { beat } = createWorkerBeat({ ...service.service, worker: someone, onLost: () => {} });
  let beaten: Promise<unknown> = Promise.resolve();
  const chores = startChores(
    [
      { when: 'recoveries', run: async () => expect.unreachable('nothing waits for it') },
      {
        when: 'returns',
        run(stopping) {
          runs.push(stopping);
          return new Promise<void>((resolve) => {
            finish = resolve;
          });
        },
      },
    ],
    () => {
      const waiting = beat();
      beaten = waiting;
      return waiting;
    },
    (error) => {
      throw error;
    },
  );
  await service.db.pool.query(resolution('null'));
  const begun = (count: number) =>
    until(
      async () => runs.length,
      (seen) => seen === count,
    );
  await begun(1);
  finish();
  await begun(2);
  let hasStopped = false;
  const stopped = chores.stop().then(() => {
    hasStopped = true;
  });
  expect(runs.map(({ aborted }) => aborted)).toEqual([true, true]);
  await beaten;
  await new Promise(setImmediate);
  expect(hasStopped).toBe(false);
  finish();
  await stopped;
  expect(runs).toHaveLength(2);
});

test('at rest, what follows signals is left out until there is one, and a stopped worker listens to none', async () => {
  const statements: string[] = [];
  const listeners = new Map<string, () => void>();
  const signals: Service['signals'] = {
    ...service.service.signals,
    on(topic, listener) {
      listeners.set(`${topic} ${listeners.size}`, () => listener(undefined));
      return () => listeners.clear();
    },
  };
  const db = {
    ...recorded(service.db, statements),
    transaction: <T>(work: (tx: Queryable) => Promise<T>) =>
      service.db.transaction((tx) => work(recorded(tx, statements))),
  };
  const all = workerChores(
    { ...service.service, db: { ...service.db, ...db }, signals },
    readConfig({}).config,
    () => {},
  );
  const following = all.filter(({ end }) => end !== undefined);
  const runAll = async () => {
    statements.length = 0;
    for (const { run } of following) await run(new AbortController().signal);
    return [...statements];
  };
  expect(await runAll()).toEqual(['overview_claim_uncounted', 'tables_without_statistics']);
  expect(await runAll()).toEqual([]);
  const heard: [string | undefined, string[]][] = [];
  for (const [topic, signal] of listeners) {
    signal();
    heard.push([topic.split(' ')[0], await runAll()]);
  }
  expect(heard).toEqual([
    ['feed', ['overview_claim_uncounted']],
    ['executions', ['tables_without_statistics']],
    ['feed', ['tables_without_statistics']],
  ]);
  await startChores(following, null, () => {}).stop();
  expect(listeners.size).toBe(0);
});

test('a process that serves the API saves when keys were used, and learns which keys there are', async () => {
  const called: string[] = [];
  const keys = {
    flushUses: async () => void called.push('flushUses'),
    learn: async (nowMs: number) => void called.push(`learn ${nowMs}`),
  };
  const chores = apiChores({ keys, clock: { nowMs: () => 7 } } as unknown as Service);
  for (const chore of chores) {
    await chore.run(new AbortController().signal);
    called.push(`every ${'everyMs' in chore && chore.everyMs} ms`);
  }
  expect(called).toEqual(['flushUses', 'every 10000 ms', 'learn 7', 'every 5000 ms']);
});

function recorded(db: Queryable, names: string[]): Queryable {
  return {
    query(statement, values) {
      names.push(statement.name);
      return db.query(statement, values);
    },
  };
}

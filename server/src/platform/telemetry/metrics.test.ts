import { expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '../db/database.ts';
import { createMetrics } from './metrics.ts';

test('a connection to PostgreSQL is idle or used', async () => {
  const pool = { totalCount: 5, idleCount: 2, waitingCount: 0 };
  const { registry } = createMetrics({ pool } as Database);
  const { values } = (await registry.getSingleMetric('db_client_connection_count')?.get()) ?? {};
  expect(values).toMatchObject([
    { value: 2, labels: { db_client_connection_state: 'idle' } },
    { value: 3, labels: { db_client_connection_state: 'used' } },
  ]);
});

const idlePool = { totalCount: 0, idleCount: 0, waitingCount: 0 };

/** A database that answers each statement like this, or fails. */
const answering = (answer: (name: string) => object[] | Error) =>
  ({
    pool: idlePool,
    async query({ name }: { name: string }) {
      const rows = answer(name);
      if (rows instanceof Error) throw rows;
      return rows;
    },
  }) as unknown as Database;

const valuesOf = async ({ registry }: ReturnType<typeof createMetrics>, name: string) =>
  ((await registry.getSingleMetric(name)?.get())?.values ?? []).map(({ value, labels }) => [labels, value]);

test('queues are measured at each scrape; one that cannot be read has no value rather than an old one', async () => {
  let queues: object[] | Error = [
    { queue: 'executions', oldest_due_seconds: 7 },
    { queue: 'deliveries', oldest_due_seconds: 0 },
  ];
  const metrics = createMetrics(answering((name) => (name === 'queues_read' ? queues : [])));
  const seen = () => valuesOf(metrics, 'simplane_queue_oldest_due_seconds');
  expect(await seen()).toEqual([
    [{ queue: 'executions' }, 7],
    [{ queue: 'deliveries' }, 0],
  ]);
  queues = new Error('away');
  expect(await seen()).toEqual([]);
});

test('a core that has everything is not behind, and one of which nothing is known has no value', async () => {
  let behind: object[] | Error = [{ behind_seconds: 12 }];
  const metrics = createMetrics(answering((name) => (name === 'core_queue_behind' ? behind : [])));
  const seen = () => valuesOf(metrics, 'simplane_core_behind_seconds');
  expect(await seen()).toEqual([[{}, 12]]);
  behind = [];
  expect(await seen()).toEqual([[{}, 0]]);
  behind = new Error('away');
  expect(await seen()).toEqual([]);
});

test('a certificate has days left, by its setting, and one that is no longer used is not measured', async () => {
  const endsAt = new Date(Date.now() + 30 * 86_400_000);
  let certificates = [
    { setting: 'SIMPLANE_ES2_CERT', endsAt },
    { setting: 'SIMPLANE_ES2_CA', endsAt: new Date(Date.now() - 86_400_000) },
  ];
  const metrics = createMetrics(
    answering(() => []),
    () => certificates,
  );
  const seen = () => valuesOf(metrics, 'simplane_certificate_days_left');
  expect(await seen()).toEqual([
    [{ setting: 'SIMPLANE_ES2_CERT' }, expect.closeTo(30, 2)],
    [{ setting: 'SIMPLANE_ES2_CA' }, expect.closeTo(-1, 2)],
  ]);
  certificates = certificates.slice(0, 1);
  expect(await seen()).toHaveLength(1);
});

test('what is impaired is measured as long as it is', async () => {
  let trouble: string | null = 'the disk is full';
  const metrics = createMetrics(
    answering(() => []),
    undefined,
    { writes: () => trouble, clock: () => null },
  );
  const seen = () => valuesOf(metrics, 'simplane_impaired');
  expect(await seen()).toEqual([
    [{ what: 'writes' }, 1],
    [{ what: 'clock' }, 0],
  ]);
  trouble = null;
  expect((await seen())[0]).toEqual([{ what: 'writes' }, 0]);
});

test('an internal error is counted from zero, and the time of the CPU in seconds, once', async () => {
  const metrics = createMetrics(answering(() => []));
  expect(await valuesOf(metrics, 'simplane_http_errors_total')).toEqual([[{ error_type: 'internal' }, 0]]);
  const used = vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 5_000_000, system: 250_000 });
  onTestFinished(() => used.mockRestore());
  for (let scrape = 0; scrape < 2; scrape++)
    expect(await valuesOf(metrics, 'process_cpu_time_seconds_total')).toEqual([
      [{ cpu_mode: 'user' }, 5],
      [{ cpu_mode: 'system' }, 0.25],
    ]);
});

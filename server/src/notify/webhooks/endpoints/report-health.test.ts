import { expect, test } from 'vitest';
import type { Database } from '../../../platform/db/database.ts';
import { reportHealth } from './report-health.ts';

const uuidAt = (n: number) => `0190a000-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** The health of so many endpoints, half of them of one account and half of another. */
const reports = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    ...{ id: uuidAt(n), account_id: uuidAt(n % 2), url: 'https://a.example/?token=hush' },
    ...{ reported_health: 'failing', failing_since: new Date(0), failure_count: 3, last_error: null },
  }));

/** Reports until there is nothing left of these batches. Returns how many remain, and what was announced. */
async function run(batches: object[][], stopping?: AbortSignal) {
  const announced: unknown[] = [];
  const asked: unknown[][] = [];
  const tx = {
    async query({ name }: { name: string }, values: unknown[]) {
      if (name !== 'endpoint_take_health_reports') return [];
      asked.push(values);
      return batches.shift() ?? [];
    },
  };
  const db = { transaction: (work: (given: object) => unknown) => work(tx) } as unknown as Database;
  const deps = {
    clock: { nowMs: () => 100_000 },
    newUuid: () => Buffer.alloc(16),
    signals: { announce: (...signal: unknown[]) => announced.push(signal) },
  } as unknown as Parameters<typeof reportHealth>[1];
  await reportHealth(db, deps, { afterMs: 60_000, minFailures: 3 }, stopping);
  return { left: batches.length, announced, asked };
}

test('health is reported in batches until one is not full, and each account’s senders are told once for each', async () => {
  const { left, announced, asked } = await run([reports(100), reports(100), reports(2), reports(1)]);
  expect(left).toBe(1);
  const both = [0, 1].map((n) => ['deliveries', uuidAt(n)]);
  expect(announced).toEqual([...both, ...both, ...both]);
  expect(asked[0]).toEqual([new Date(40_000), 3, 100]);
});

test('a stopping process reports nothing more', async () => {
  expect(await run([reports(1)], AbortSignal.abort())).toMatchObject({ left: 1, announced: [] });
});

import { expect, test } from 'vitest';
import type { Database } from '../../../platform/db/database.ts';
import { cancelUndeliverable } from './disable.ts';

/** Cancels, where the statements find so many rows. Returns which ran. */
async function run(found: number[], stopping?: AbortSignal): Promise<string[]> {
  const tables: string[] = [];
  const db = {
    async query({ name }: { name: string }) {
      tables.push(name.replace('endpoint_cancel_undeliverable_', ''));
      return Array.from({ length: found.shift() ?? 0 }, () => ({}));
    },
  } as unknown as Database;
  await cancelUndeliverable(db, { nowMs: () => 0 }, stopping);
  return tables;
}

test('what waits for its turn is canceled before what is queued, because it may move there, each to its last batch', async () => {
  expect(await run([])).toEqual(['blocked_deliveries', 'delivery_queue']);
  expect(await run([1_000, 999, 1_000, 1_000, 3])).toEqual([
    ...['blocked_deliveries', 'blocked_deliveries'],
    ...['delivery_queue', 'delivery_queue', 'delivery_queue'],
  ]);
});

test('a stopping process cancels no further batch', async () => {
  expect(await run([1_000], AbortSignal.abort())).toEqual([]);
});

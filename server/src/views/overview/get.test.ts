import { expect, test } from 'vitest';
import type { Context } from '../../accounts/context.ts';
import { getOverview, hoursOf } from './get.ts';
import type { CountRow } from './sql/reading.ts';

const hourMs = 3_600_000;

test('only orders that ended count as accepted or failed: a failure of a later stage is neither', () => {
  const hour = new Date(hourMs);
  const rowOf = (stage: string, isReached: boolean) =>
    ({ stage, hour, isReached, code: null, bucket: null, count: 2 }) as CountRow;
  const counts = [rowOf('provisioned', false), rowOf('downloaded', false), rowOf('installed', true)];
  const hours = hoursOf({ from: hour, until: new Date(2 * hourMs) }, counts, []);
  expect(hours).toEqual([
    { start: 3_600, accepted: 2, provisioned: 0, failed: 2, downloaded: 0, installed: 2, active: 0 },
  ]);
});

test.each([
  [50 * hourMs + 7_000, 50 * 3_600],
  [49 * hourMs, 49 * 3_600],
])('an overview with events counted to %i ms is as of %i, never in the future', async (countedTo, asOf) => {
  const query = async ({ name }: { name: string }) =>
    name === 'overview_find_counted_to' ? [{ countedTo: new Date(countedTo) }] : [];
  const account = { uuid: '0190a000-0000-7000-8000-000000000000' };
  const ctx = { db: { query }, account, clock: { nowMs: () => 50 * hourMs } } as unknown as Context;
  expect((await getOverview(ctx, { params: {}, query: {}, body: {} })).as_of).toBe(asOf);
});

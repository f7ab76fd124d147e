import { expect, test } from 'vitest';
import type { AttemptResult } from './attempt.ts';
import { toSettled } from './record-result.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';

const options = { retryScheduleMs: [1_000, 5_000], random: () => 0 };
const failed: AttemptResult = {
  ok: false,
  statusCode: 500,
  error: null,
  excerpt: null,
  retryAfterMs: null,
  durationMs: 3,
};

test.each<[attempts: number, Partial<AttemptResult>, outcome: string, retryInMs: number | null]>([
  [0, { ok: true, statusCode: 204 }, 'succeeded', null],
  [2, { ok: true, statusCode: 204 }, 'succeeded', null],
  [0, {}, 'pending', 1_000],
  [0, { retryAfterMs: 2_000 }, 'pending', 2_000],
  [1, {}, 'pending', 5_000],
  [2, {}, 'failed', null],
])('after %i attempts, %o means %s', (attempts, result, outcome, retryInMs) => {
  const delivery = { attempt_count: attempts } as ClaimedDelivery;
  const settled = toSettled(options, delivery, { ...failed, ...result }, 1_234);
  expect(settled).toMatchObject({ outcome, retryInMs, at: new Date(1_234), durationMs: 3 });
});

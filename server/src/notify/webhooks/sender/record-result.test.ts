import { expect, test } from 'vitest';
import type { AttemptResult } from './attempt.ts';
import { createResultRecorder, toSettled } from './record-result.ts';
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

const uuid = '0190a000-0000-7000-8000-000000000000';
/** An endpoint that has failed long and often enough to be disabled. */
const dead = { id: uuid, account_id: uuid, failing_since: new Date(0), failure_count: 99, last_error: null };

test('an endpoint that has recovered meanwhile is not told as disabled', async () => {
  const told: unknown[] = [];
  const record = createResultRecorder({
    ...{ ...options, leaseMs: 1, disableRule: { afterMs: 1, minFailures: 1 } },
    ...{ clock: { nowMs: () => 60_000 }, db: { query: async () => [dead], transaction: async () => false } },
    ...{ lanes: { finished: () => 0 }, ready: { has: () => false, add() {}, addLater() {} } },
    ...{ claims: { drop() {}, release() {} }, onAttempt() {}, onDisabled: (id: string) => told.push(id) },
    log: { info() {}, isLevelEnabled: () => false, warn: (_: object, text: string) => told.push(text) },
  } as unknown as Parameters<typeof createResultRecorder>[0]);
  const ids = { id: uuid, event_id: uuid, account_id: uuid, endpoint_id: uuid, order_key: null };
  await record({ ...ids, attempt_count: 0 } as ClaimedDelivery, failed, 1_234);
  expect(told).toEqual([]);
});

test('an attempt at an endpoint that cannot be disabled now is counted, and made again in its time', async () => {
  const called: unknown[] = [];
  const record = createResultRecorder({
    ...{
      ...options,
      leaseMs: 1,
      disableRule: { afterMs: 1, minFailures: 1 },
      clock: { nowMs: () => 60_000 },
    },
    db: { query: async () => [dead], transaction: () => Promise.reject(new Error('away')) },
    lanes: { finished: () => 0 },
    ready: {
      ...{ has: () => false, add: () => {} },
      addLater: (_endpoint: string, _account: string, inMs: number) => called.push(inMs),
    },
    claims: { drop: () => {}, release: () => {} },
    log: { info: () => {}, isLevelEnabled: () => false },
    onAttempt: ({ outcome }: { outcome: string }) => called.push(outcome),
    onError: ({ message }: Error) => called.push(message),
  } as unknown as Parameters<typeof createResultRecorder>[0]);
  const ids = { id: uuid, event_id: uuid, account_id: uuid, endpoint_id: uuid, order_key: null };
  await record({ ...ids, attempt_count: 0 } as ClaimedDelivery, failed, 1_234);
  expect(called).toEqual(['away', 'pending', 1_000]);
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { lowestUuidAt, unixMsOf } from '../../../platform/ids/uuid-range.ts';
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

const succeeded: AttemptResult = { ...failed, ok: true, statusCode: 200 };

/** Records results, and tells in order what that does. `isReady`: the endpoint is in a queue; `next`: waits for what ended. */
function recording({ isReady = false, pauseMs = 0, next = null as string | null } = {}) {
  const done: unknown[] = [];
  const note = (name: string) => () => void done.push(name);
  const record = createResultRecorder({
    ...{ ...options, leaseMs: 1, disableRule: { afterMs: 1, minFailures: 99 }, clock: { nowMs: () => 0 } },
    db: {
      async query({ name }: { name: string }) {
        done.push(name);
        const promoted = { accountUuid: uuid, endpointUuid: uuid, iccid: '8999', deliveryUuid: next };
        return name === 'ordered_promote' && next !== null ? [promoted] : [];
      },
    },
    lanes: { finished: () => pauseMs },
    ready: {
      ...{ has: () => isReady, add: note('add') },
      addLater: (_endpoint: string, _account: string, inMs: number) => done.push(`add in ${inMs}`),
    },
    wake: { proven: note('wake proven'), unproven: note('wake unproven') },
    claims: { drop() {}, release() {}, lookFrom: (_: string, from: string) => done.push(`from ${from}`) },
    log: { info() {}, isLevelEnabled: () => false },
    ...{ onAttempt() {}, onError: ({ message }: Error) => done.push(message) },
  } as unknown as Parameters<typeof createResultRecorder>[0]);
  const run = (result: AttemptResult, iccid: string | null = null, attempts = 0) => {
    const ids = { id: uuid, event_id: uuid, account_id: uuid, endpoint_id: uuid, order_key: iccid };
    return record({ ...ids, attempt_count: attempts } as ClaimedDelivery, result, 1_234);
  };
  return { run, done };
}

test('an endpoint with more to send goes on after a success, and one that failed waits for its pause or its retry', async () => {
  const doneBy = async (how: Parameters<typeof recording>[0], result: AttemptResult) => {
    const { run, done } = recording(how);
    await run(result);
    return done;
  };
  expect(await doneBy({ isReady: true }, succeeded)).toEqual(['add', 'wake proven', 'delivery_settle']);
  expect(await doneBy({}, succeeded)).toEqual(['delivery_settle']);
  expect(await doneBy({ isReady: true, pauseMs: 250 }, failed)).toEqual([
    'add',
    'delivery_settle',
    'add in 1000',
  ]);
  expect(await doneBy({ pauseMs: 5_000 }, failed)).toEqual(['add', 'delivery_settle', 'add in 5000']);
});

test('what waits for a delivery is sent as soon as that has ended, wherever the last claim was', async () => {
  const next = '0190a000-1234-7000-8000-000000000001';
  const follow = [
    ...['ordered_promote', `from ${lowestUuidAt(unixMsOf(next))}`],
    ...['add', 'wake proven', 'wake unproven'],
  ];
  const ended = recording({ next });
  await ended.run(succeeded, '8999');
  expect(ended.done).toEqual(['delivery_settle', ...follow]);
  const lost = recording({ next });
  await lost.run(failed, '8999', 2);
  expect(lost.done.slice(-follow.length)).toEqual(follow);
  const retried = recording({ next });
  await retried.run(failed, '8999');
  expect(retried.done).not.toContain('ordered_promote');
  const unordered = recording({ next });
  await unordered.run(succeeded);
  expect(unordered.done).toEqual(['delivery_settle']);
});

test('results are gathered for a moment, but for those that others wait for', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { run, done } = recording();
  await run(succeeded);
  const gathered = run(succeeded);
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(['delivery_settle']);
  await Promise.all([gathered, run(succeeded, '8999')]);
  expect(done).toEqual(['delivery_settle', 'delivery_settle', 'ordered_promote']);
});

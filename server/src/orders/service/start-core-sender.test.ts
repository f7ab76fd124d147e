import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Core, Reply } from '../../network/port.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import { startCoreSender } from './start-core-sender.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const account_id = '018f2d6a-0000-7000-8000-000000000001';
const execution_id = '018f2d6a-0000-7000-8000-000000000002';
const state = (iccid: string) => ({ account_id, iccid, version: 1, service: {}, failures: 0 });
const done: Reply<object> = { kind: 'done', result: {} };
const down: Reply<never> = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'x' },
  isDown: true,
};

type Answers = Record<string, (values: unknown[]) => unknown>;

/** A sender on a database that answers statements so; all others find nothing. */
function start(setService: Core['setService'], answers: Answers) {
  const told: unknown[][] = [];
  const statements: [string, unknown[]][] = [];
  const db = {
    query: async ({ name }: { name: string }, values: unknown[] = []) => {
      statements.push([name, values]);
      return (await answers[name]?.(values)) ?? [];
    },
    transaction: (work: (tx: unknown) => unknown) => work(db),
  };
  const sender = startCoreSender({
    db,
    core: { setService },
    clock: { nowMs: () => 1_800_000_000_000 },
    newUuid: () => Buffer.alloc(16),
    signals: { announce: (...given: unknown[]) => void told.push(given) },
    ...{ concurrency: 8, holder: 'me', leaseMs: 60_000, timeoutMs: 1_000, retryScheduleMs: [60_000] },
    ...{ pollMs: 1_000, pause: { afterFailures: 1, pauseMs: 10_000 } },
    onPause() {},
    onOutcome() {},
    onError: (error: unknown) => expect.fail(String(error)),
  } as unknown as Parameters<typeof startCoreSender>[0]);
  const stop = () => Promise.all([sender.stop(0), vi.runAllTimersAsync()]);
  const valuesOf = (wanted: string) =>
    statements.filter(([name]) => name === wanted).map(([, values]) => values);
  const counts = () => valuesOf('core_queue_claim').map(([count]) => count);
  return { sender, told, stop, valuesOf, counts };
}

/** Gives each of these to one claim. */
const claims =
  (...batches: ReturnType<typeof state>[][]) =>
  () =>
    batches.shift();

const held = {
  ...{ account_id, id: execution_id, type: 'esim.terminate', product_id: 'p', iccid: 'a' },
  ...{ input: {}, progress: {}, attempts: 1, fence: 2 },
};

test.each<[string, string | null, Answers, unknown[][]]>([
  ['if no change waits for it', null, {}, []],
  ['if the change that waits is not due by it', 'suspend', {}, []],
  [
    'and wakes the workers for a change that waits for it',
    'suspend',
    { execution_wake_changes: () => [{}] },
    [['executions']],
  ],
  ['if the termination that waits has ended already', 'terminate', {}, []],
  [
    'and tells of the event of a termination that it ends',
    'terminate',
    { execution_take_over: () => [held], execution_finish: () => [{}] },
    [['deliveries', account_id]],
  ],
])('an answer of the core is stored %s', async (_, change, answers, expected) => {
  const pending = change && { change, execution_id, version: 1 };
  const { told, stop, valuesOf } = start(async () => done, {
    core_queue_claim: claims([state('a')]),
    core_queue_lock_esim: () => [{ pending_change: pending }],
    ...answers,
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(told).toEqual(expected);
  expect(valuesOf('core_queue_applied')).toHaveLength(1);
  await stop();
});

test('a claim goes on after the account that was served last, then from the first, until it has enough', async () => {
  const { sender, stop, valuesOf } = start(() => new Promise(() => {}), {
    core_queue_claim: claims([state('a')], [state('b')], [], [state('c'), state('d')], []),
  });
  await vi.advanceTimersByTimeAsync(0);
  sender.wake();
  await vi.advanceTimersByTimeAsync(0);
  sender.wake();
  await vi.advanceTimersByTimeAsync(0);
  const asked = valuesOf('core_queue_claim').map(([count, leaseMs, after, , , holder]) => [
    ...[count, leaseMs, after, holder],
  ]);
  expect(asked.slice(0, 5)).toEqual([
    [4, 60_000, lowestUuid, 'me'],
    [4, 60_000, account_id, 'me'],
    [3, 60_000, lowestUuid, 'me'],
    [4, 60_000, account_id, 'me'],
    [2, 60_000, lowestUuid, 'me'],
  ]);
  await stop();
});

test('a claim that has enough asks for no more', async () => {
  const four = ['a', 'b', 'c', 'd'].map(state);
  const { stop, counts } = start(() => new Promise(() => {}), {
    core_queue_claim: claims([state('0')], four),
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(counts().slice(0, 3)).toEqual([4, 4, 3]);
  await stop();
});

test('after a pause one state is claimed for the probe', async () => {
  const { stop, counts } = start(async () => down, { core_queue_claim: claims([state('a')], [state('b')]) });
  await vi.advanceTimersByTimeAsync(9_500);
  expect(counts()).toEqual([4]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(counts()).toEqual([4, 1]);
  await stop();
});

test('a state that was claimed as the pause began is not sent, and is due when the pause is over', async () => {
  const sent: string[] = [];
  let answer = (_: Reply<never>) => {};
  let late = (_: unknown) => {};
  const { sender, stop, valuesOf } = start(
    ({ id }) => {
      sent.push(id);
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    {
      core_queue_claim: (() => {
        let claimed = 0;
        return () => {
          claimed += 1;
          return claimed === 1
            ? [state('a')]
            : claimed === 2
              ? new Promise((resolve) => (late = resolve))
              : [];
        };
      })(),
    },
  );
  await vi.advanceTimersByTimeAsync(0);
  sender.wake();
  await vi.advanceTimersByTimeAsync(500);
  answer(down);
  await vi.advanceTimersByTimeAsync(0);
  expect(sender.isPaused()).toBe(true);
  late([state('b')]);
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual(['a.1']);
  expect(valuesOf('core_queue_postpone')).toEqual([
    [account_id, 'a', 1, 1_000, expect.stringContaining('network_unavailable')],
    [account_id, 'b', 1, 10_000, null],
  ]);
  await stop();
});

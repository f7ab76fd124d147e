import { afterEach, expect, test, vi } from 'vitest';
import type { Network, Reply } from '../../network/port.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { ClaimLost, hold } from './hold.ts';
import type { ClaimedExecution, Deps } from './runner.ts';

afterEach(() => void vi.useRealTimers());

const reason = { code: 'network_unavailable', message: 'x' } as const;
const withoutEffect: Reply<never> = { kind: 'failed', reason, hadNoEffect: true };

/** Holds an execution. `isHeld: false`: another worker has claimed it. */
function start(
  claimed: Partial<ClaimedExecution>,
  { isHeld = true, forgetsCalls = true, breaker = null as Breaker | null } = {},
) {
  const uncounted: unknown[] = [];
  const stored: unknown[] = [];
  const db = {
    async query({ name }: { name: string }, values: unknown[]) {
      if (name === 'execution_progress') {
        const text = String(values[3]); // an array of one text, in PostgreSQL's binary form
        stored.push(JSON.parse(text.slice(text.indexOf('{"'))));
      }
      if (name === 'execution_give_back') uncounted.push(values[4]);
      return isHeld ? [{ n: 1 }] : [];
    },
  } as unknown as Deps['db'];
  const network = { ...(forgetsCalls && { forgetsCalls }) } as Network;
  const clock = { nowMs: () => 1_800_000_000_000 };
  const deps = { db, clock, network, leaseMs: 30_000, networkTimeoutMs: 10_000 } as Deps;
  const uuid = '018f2d6a-0000-7000-8000-000000000000';
  const execution = { account_id: uuid, id: uuid, fence: 1, attempts: 1, progress: {}, ...claimed };
  const held = hold(deps, breaker, execution as ClaimedExecution, new AbortController().signal);
  return { held, execution, uncounted, stored, tx: db as Queryable };
}

test('waiting for the core counts as an attempt, and looking again does not', async () => {
  for (const [attempts, notCounted] of [
    [1, 0],
    [2, 1],
  ] as const) {
    const { held, uncounted, tx } = start({ attempts });
    await held.waitForCore(tx);
    expect(uncounted).toEqual([notCounted]);
  }
});

test('a worker that lost its claim neither waits for the core nor makes a call', async () => {
  const { held, tx } = start({}, { isHeld: false });
  let calls = 0;
  await expect(held.waitForCore(tx)).rejects.toThrow(ClaimLost);
  const make = async () => {
    calls += 1;
    return withoutEffect;
  };
  await expect(held.call('order', make)).rejects.toThrow(ClaimLost);
  expect(calls).toBe(0);
});

test('a call without effect was not made, unless it repeats one that may have had an effect', async () => {
  const seen: unknown[] = [];
  for (const progress of [{}, { sent_order: true }]) {
    const { held, execution } = start({ progress });
    await held.call('order', async ({ isRepeated }) => {
      seen.push(isRepeated);
      return withoutEffect;
    });
    seen.push(execution.progress);
  }
  expect(seen).toEqual([
    ...[false, expect.objectContaining({ sent_order: false })],
    ...[true, expect.objectContaining({ sent_order: true })],
  ]);
});

test('a network that remembers calls is told of a repetition by the claim', async () => {
  const repeated: unknown[] = [];
  for (const fence of [1, 2]) {
    const { held, execution } = start({ fence }, { forgetsCalls: false });
    await held.call('order', async (call) => {
      repeated.push(call.isRepeated);
      return withoutEffect;
    });
    // What follows in this attempt knows that the network may have reserved a profile.
    expect(execution.progress).toMatchObject({ sent_order: true });
  }
  expect(repeated).toEqual([false, true]);
});

test('a worker that lost its claim before the probe leaves the probe to another', async () => {
  let nowMs = 0;
  const breaker = createBreaker({ afterFailures: 1, pauseMs: 1_000, nowMs: () => nowMs, onChange() {} });
  breaker.permit()?.end({ ...withoutEffect, isDown: true });
  nowMs = 1_000;
  const { held } = start({}, { isHeld: false, breaker });
  await expect(held.call('order', async () => withoutEffect)).rejects.toThrow(ClaimLost);
  expect(breaker.permit()).not.toBeNull();
});

test('an order that waits for a paused network shows that it was not sent, unless an attempt before may have', async () => {
  const breaker = createBreaker({ afterFailures: 1, pauseMs: 1_000, nowMs: () => 0, onChange() {} });
  breaker.permit()?.end({ ...withoutEffect, isDown: true });
  const seen: unknown[] = [];
  for (const progress of [{}, { sent_order: true }]) {
    const { held, execution } = start({ progress }, { breaker });
    await held.call('order', async () => expect.fail('it was called'));
    seen.push(execution.progress);
  }
  expect(seen).toEqual([{ sent_order: false }, { sent_order: true }]);
});

test('a call ends soon after its deadline, with the answer of the driver if it gives one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { held } = start({}, { forgetsCalls: false });
  const replies: unknown[] = [];
  const deaf = held.call<never>('order', () => new Promise(() => {})).then((reply) => replies.push(reply));
  await vi.advanceTimersByTimeAsync(10_099);
  expect(replies).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(replies).toMatchObject([
    { kind: 'failed', reason: { message: expect.stringContaining('in time') } },
  ]);
  await deaf;
  const polite = held.call<never>(
    'order',
    ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(withoutEffect))),
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await polite).toBe(withoutEffect);
});

test('a step is stored with the next write, unless the lease could end before the next call does', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { held, stored } = start({}, { forgetsCalls: false });
  const checkAfter = async (ms: number, progress: object) => {
    vi.advanceTimersByTime(ms);
    expect(await held.checkpoint(progress)).toBe(true);
  };
  await checkAfter(19_999, { first: 1 });
  expect(stored).toEqual([]);
  await checkAfter(1, { second: 2 });
  expect(stored).toEqual([{ first: 1, second: 2 }]);
  // The lease was renewed with it.
  await checkAfter(19_999, { third: 3 });
  expect(stored).toHaveLength(1);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ClaimLost } from './hold.ts';
import type { ClaimedExecution, Runner, RunOutcome } from './runner.ts';
import { startExecutionWorker } from './worker.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const order = {
  ...{ account_id: 'a', id: '018f2d6a-0000-7000-8000-000000000000', type: 'esim.provision', iccid: '1' },
  ...{ input: {}, progress: {}, attempts: 1, fence: 1 },
} as unknown as ClaimedExecution;
const down = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'x' },
  isDown: true,
} as const;

/** A worker that hears of all work, with a network that is down, and how often it has claimed. */
function start(due: ClaimedExecution[], end?: () => Promise<RunOutcome>) {
  let claims = 0;
  const network = { isDown: true };
  /** What it claimed, and when: whatever is due unless the network is paused, else only what may be the probe. */
  const claimed: { name: string; ms: number; count: number }[] = [];
  const told: string[] = [];
  const written: string[] = [];
  const provision: Runner = {
    isPausable: true,
    async run(_, held) {
      if (end) return end();
      const reply = await held.call<object>('order', async () =>
        network.isDown ? down : { kind: 'done', result: {} },
      );
      if (reply.kind === 'failed') return reply;
      await new Promise((resolve) => setTimeout(resolve, 5_000)); // the later steps
      return { kind: 'done' };
    },
    fail: async () => void told.push('failed'),
  };
  const worker = startExecutionWorker({
    db: {
      async query({ name }: { name: string }) {
        if (!name.startsWith('execution_claim')) {
          written.push(name);
          return [{}];
        }
        claims += 1;
        claimed.push({ name, ms: Date.now(), count: due.length });
        return due.splice(0);
      },
    },
    clock: { nowMs: () => Date.now() },
    ...{ signals: { announce: (topic: string) => void told.push(topic) }, network: { forgetsCalls: false } },
    ...{ leaseMs: 60_000, networkTimeoutMs: 1_000, retryScheduleMs: [1_000], concurrency: 2, pollMs: 1_000 },
    ...{ runners: { 'esim.provision': provision }, pause: { afterFailures: 1, pauseMs: 9_000 } },
    ...{
      hearsAll: () => true,
      onPause() {},
      onOutcome() {},
      onError: (error: unknown) => expect.fail(String(error)),
    },
  } as unknown as Parameters<typeof startExecutionWorker>[0]);
  return { worker, claims: () => claims, claimed, network, told, written };
}

test('rarely claims while signals tell of all work', async () => {
  const { worker, claims } = start([]);
  await vi.advanceTimersByTimeAsync(19_000);
  expect(claims()).toBe(4);
  await Promise.all([worker.stop(0), vi.runAllTimersAsync()]);
});

test('claims every second while the network is paused, because only a claim finds the order for the probe', async () => {
  const { worker, claims } = start([order]);
  await vi.advanceTimersByTimeAsync(1_000);
  const before = claims();
  await vi.advanceTimersByTimeAsync(7_000);
  expect(claims() - before).toBe(7);
  await Promise.all([worker.stop(0), vi.runAllTimersAsync()]);
});

test('claims what waited at once when the network works again', async () => {
  const due = [order];
  const { worker, claimed, network } = start(due);
  await vi.advanceTimersByTimeAsync(8_500);
  network.isDown = false;
  due.push(order);
  await vi.advanceTimersByTimeAsync(2_000);
  const probe = claimed.findLast(({ count }) => count > 0);
  expect(probe?.name).not.toBe('execution_claim');
  const atOnce = claimed.filter(({ ms }) => ms === probe?.ms).map(({ name }) => name);
  expect(atOnce.at(-1)).toBe('execution_claim');
  await Promise.all([worker.stop(0), vi.runAllTimersAsync()]);
});

test('announces the event of an order that failed for good, after it was written', async () => {
  const { worker, told } = start([{ ...order, attempts: 1_000 }]);
  await vi.advanceTimersByTimeAsync(0);
  expect(told).toEqual(['failed', 'deliveries']);
  await Promise.all([worker.stop(0), vi.runAllTimersAsync()]);
});

test.each<[string, RunOutcome, string[]]>([
  ['may have written an event', { kind: 'done' }, ['deliveries']],
  ['has handed its event over', { kind: 'done', isAnnounced: true }, []],
  ['failed', down, ['deliveries']],
])(
  'an attempt that %s is announced only if nothing else tells of its events',
  async (_, outcome, expected) => {
    const { worker, told } = start([order], async () => outcome);
    await vi.advanceTimersByTimeAsync(0);
    expect(told).toEqual(expected);
    await Promise.all([worker.stop(0), vi.runAllTimersAsync()]);
  },
);

test('an execution that another worker has claimed is left to it, and is no error', async () => {
  const { worker, told, written } = start([order], () => Promise.reject(new ClaimLost()));
  await vi.advanceTimersByTimeAsync(0);
  expect([told, written]).toEqual([[], []]);
  await Promise.all([worker.stop(0), vi.runAllTimersAsync()]);
});

test('a worker whose last claim got less than it had room for offers seats without another claim', async () => {
  const { worker, claims } = start([]);
  await vi.advanceTimersByTimeAsync(0);
  const [first, second] = [await worker.seat(), await worker.seat()];
  expect([first, second]).toMatchObject([{ leaseMs: 60_000 }, { leaseMs: 60_000 }]);
  expect(await worker.seat()).toBeNull();
  first?.release();
  await vi.advanceTimersByTimeAsync(0);
  expect([claims(), await worker.seat()]).toMatchObject([1, { leaseMs: 60_000 }]);
  await Promise.all([worker.stop(0), vi.runAllTimersAsync()]);
});

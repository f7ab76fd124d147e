import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startWorkQueue } from './work-queue.ts';

/** A queue with more jobs than slots. A claimed job runs until the test ends it. */
function startFull(concurrency: number) {
  const claims: number[] = [];
  const running: (() => void)[] = [];
  const queue = startWorkQueue({
    concurrency,
    pollMs: 60_000,
    onError: (error) => expect.fail(String(error)),
    async claim(count) {
      claims.push(count);
      return Array.from({ length: count }, () => 'job');
    },
    run: () => new Promise((resolve) => running.push(() => resolve(undefined))),
  });
  return { claims, running, queue };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test.each([
  [1, [1]],
  [2, [1, 1]],
  [5, [3, 2]],
  [128, [64, 64]],
])('with %i slots, claims half at once, then the rest, and no more', async (concurrency, expected) => {
  const { claims, running, queue } = startFull(concurrency);
  await turn();
  expect(claims).toEqual(expected);
  expect(running).toHaveLength(concurrency);
  const stopped = queue.stop(60_000);
  for (const end of running) end();
  await stopped;
  expect(claims).toEqual(expected);
});

test('a finished job frees its slot', async () => {
  const { claims, running, queue } = startFull(4);
  await turn();
  for (const end of running.splice(0, 3)) end();
  await turn();
  expect(claims).toEqual([2, 2, 2, 1]);
  const stopped = queue.stop(60_000);
  for (const end of running) end();
  await stopped;
});

test('when a job ends, the queue claims again: a job may have waited for this one, though there was room', async () => {
  const running: (() => void)[] = [];
  let claims = 0;
  let waiting = 2;
  const queue = startWorkQueue<string>({
    ...{ concurrency: 4, pollMs: 600_000 },
    onError: (error) => expect.fail(String(error)),
    async claim() {
      claims += 1;
      const isFree = running.length === 0 && waiting > 0; // one at a time, as of an account at its limit
      if (isFree) waiting -= 1;
      return isFree ? ['job'] : [];
    },
    run: () => new Promise((resolve) => running.push(() => resolve(undefined))),
  });
  await turn();
  expect([claims, running.length]).toEqual([1, 1]);
  running.shift()?.();
  await turn();
  await turn();
  expect([waiting, running.length]).toEqual([0, 1]);
  const stopped = queue.stop(60_000);
  for (const end of running) end();
  await stopped;
});

test('a job that is due again is claimed when its time has come, without waiting for the poll', async () => {
  const due = ['job'];
  let dueAtMs = 0;
  let runs = 0;
  const queue = startWorkQueue<string>({
    ...{ concurrency: 2, pollMs: 600_000 },
    onError: (error) => expect.fail(String(error)),
    claim: async (count) => (performance.now() >= dueAtMs ? due.splice(0, count) : []),
    async run(job) {
      runs += 1;
      if (runs > 1) return undefined;
      due.push(job);
      dueAtMs = performance.now() + 20;
      return { againInMs: 40 };
    },
  });
  await expect.poll(() => runs).toBe(2);
  await queue.stop(0);
});

test('a job that outlasts the shutdown timeout is told to end, and awaited', async () => {
  let hasEnded = false;
  const queue = startWorkQueue<string>({
    ...{ concurrency: 2, pollMs: 600_000 },
    onError: (error) => expect.fail(String(error)),
    claim: async () => (hasEnded ? [] : ['job']),
    run: (_, stopping) =>
      new Promise((resolve) => {
        stopping.addEventListener('abort', () => {
          hasEnded = true;
          resolve(undefined);
        });
      }),
  });
  await turn();
  await queue.stop(1);
  expect(hasEnded).toBe(true);
}, 60_000);

describe('a queue whose claims take all that is due', () => {
  /** A queue of two slots. Claims get what `due` has; a job runs until the test ends it. */
  async function start() {
    const due: string[] = [];
    const claims: number[] = [];
    const gate = { opened: Promise.resolve(), open() {} };
    let isOver = false;
    const running: (() => void)[] = [];
    const queue = startWorkQueue<string>({
      ...{ concurrency: 2, pollMs: 60_000, takesAllDue: true },
      onError: (error) => expect.fail(String(error)),
      async claim(count) {
        claims.push(count);
        await gate.opened;
        return due.splice(0, count);
      },
      run: async () =>
        isOver ? undefined : new Promise((resolve) => running.push(() => resolve(undefined))),
    });
    onTestFinished(async () => {
      isOver = true;
      gate.open();
      const stopped = queue.stop(60_000);
      for (const end of running) end();
      await stopped;
    });
    await turn();
    claims.length = 0;
    return { due, claims, gate, running, queue };
  }

  test('has room for jobs that were not claimed, and claims nothing when they end', async () => {
    const { claims, running, queue } = await start();
    queue.reserve()?.run('mine');
    queue.reserve()?.run('mine');
    expect(queue.reserve()).toBeNull();
    running.shift()?.();
    await turn();
    expect(queue.reserve()).not.toBeNull();
    expect(claims).toEqual([]);
  });

  test('keeps reserved room free, and gives it up when it is released', async () => {
    const { due, claims, running, queue } = await start();
    const place = queue.reserve();
    due.push('a', 'b');
    queue.wake();
    await turn();
    expect([claims, running.length]).toEqual([[1], 1]);
    place?.release();
    await turn();
    expect(running).toHaveLength(2);
  });

  test('has no room while others may wait for it', async () => {
    const { due, gate, running, queue } = await start();
    due.push('a', 'b', 'c');
    queue.wake();
    await turn();
    await turn();
    expect(running).toHaveLength(2);
    gate.opened = new Promise((resolve) => {
      gate.open = resolve;
    });
    running.shift()?.();
    await turn();
    expect(queue.reserve()).toBeNull(); // c is being claimed
    gate.open();
    await turn();
    expect(running).toHaveLength(2);
  });

  test('claims when a job ends if it was woken while there was no room', async () => {
    const { due, running, queue } = await start();
    queue.reserve()?.run('mine');
    queue.reserve()?.run('mine');
    due.push('a');
    queue.wake();
    await turn();
    running.shift()?.();
    await turn();
    await turn();
    expect(due).toEqual([]);
  });

  test('has no room after a claim that failed, because others may wait', async () => {
    let hasFailed = false;
    const queue = startWorkQueue<string>({
      ...{ concurrency: 2, pollMs: 600_000, takesAllDue: true },
      onError: () => {
        hasFailed = true;
      },
      claim: () => (hasFailed ? Promise.resolve([]) : Promise.reject(new Error('no database'))),
      run: async () => undefined,
    });
    await turn();
    expect([hasFailed, queue.reserve()]).toEqual([true, null]);
    queue.wake();
    await turn();
    expect(queue.reserve()).not.toBeNull();
    await queue.stop(0);
  });
});

describe('polls', () => {
  /** Counts the claims; the first one finds these jobs. */
  function start(options: { hearsAll(): boolean; againInMs?: number }) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const due = options.againInMs === undefined ? [] : [{ againInMs: options.againInMs }];
    let claims = 0;
    const queue = startWorkQueue<{ againInMs: number }>({
      ...{ concurrency: 2, pollMs: 1_000, hearsAll: options.hearsAll },
      onError: (error) => expect.fail(String(error)),
      async claim() {
        claims += 1;
        return due.splice(0);
      },
      run: async (job) => job,
    });
    onTestFinished(async () => {
      await queue.stop(0);
    });
    return async (forMs: number) => {
      const before = claims;
      await vi.advanceTimersByTimeAsync(forMs);
      return claims - before;
    };
  }

  test('are rare while signals tell of all work, and only then', async () => {
    let hearsAll = true;
    const claimsWithin = start({ hearsAll: () => hearsAll });
    await claimsWithin(0);
    expect(await claimsWithin(20_000)).toBe(4);
    hearsAll = false;
    await claimsWithin(5_000);
    expect(await claimsWithin(20_000)).toBe(20);
  });

  test('are not rare until a job is due that is too far away for a timer', async () => {
    const claimsWithin = start({ hearsAll: () => true, againInMs: 30_000 });
    await claimsWithin(2_000); // the first claim's job has ended
    expect(await claimsWithin(28_000)).toBe(28);
    await claimsWithin(6_000);
    expect(await claimsWithin(20_000)).toBe(4);
  });

  test('are rare after a job that is due soon, because a timer wakes for it', async () => {
    const claimsWithin = start({ hearsAll: () => true, againInMs: 10_000 });
    await claimsWithin(0);
    expect(await claimsWithin(9_999)).toBe(1);
  });
});

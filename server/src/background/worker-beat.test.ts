import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Queryable } from '../platform/db/database.ts';
import { createWorkerBeat } from './worker-beat.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A worker whose beats take `tookMs`, beside one that is dead. */
function start(tookMs: () => number = () => 0) {
  let lost = 0;
  const db = {
    async query() {
      vi.advanceTimersByTime(tookMs());
      return [{ deadWorkers: true }];
    },
  } as unknown as Queryable;
  const clock = { nowMs: () => 0 };
  const beat = createWorkerBeat({ db, clock, worker: 'one', onLost: () => lost++ });
  return {
    ...beat,
    lost: () => lost,
    judges: async () => (await beat.beat())?.deadWorkers,
  };
}

test('a worker’s leases surely last for 3.7 s from when its last beat was sent', async () => {
  const worker = start(() => 1_000);
  await worker.beat();
  vi.advanceTimersByTime(2_699);
  expect([worker.isFresh(), worker.lost()]).toEqual([true, 0]);
  vi.advanceTimersByTime(1);
  expect([worker.isFresh(), worker.lost()]).toEqual([false, 1]);
});

test('a worker that was frozen hears of it before it goes on, although no timer ran', async () => {
  const worker = start();
  await worker.beat();
  vi.setSystemTime(0); // timers stay
  const frozen = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_000);
  expect(worker.isFresh()).toBe(false);
  await worker.beat();
  expect([worker.isFresh(), worker.lost()]).toEqual([true, 1]);
  frozen.mockRestore();
});

test('a worker that stopped hears nothing more', async () => {
  const worker = start();
  await worker.beat();
  worker.stop();
  vi.advanceTimersByTime(60_000);
  expect(worker.lost()).toBe(0);
});

test('only a worker that has beaten for over 4 s judges others, and after a gap only as long after it', async () => {
  const worker = start();
  const judged: unknown[] = [];
  const beats = async (count: number) => {
    for (let beat = 0; beat < count; beat++) {
      judged.push(await worker.judges());
      vi.advanceTimersByTime(1_000);
    }
  };
  await beats(6);
  expect(judged.splice(0)).toEqual([false, false, false, false, false, true]);
  expect(worker.lost()).toBe(0);
  vi.advanceTimersByTime(3_000);
  await beats(6);
  expect(judged).toEqual([false, false, false, false, false, true]);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { every } from './every.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ignore = () => {};

test('work runs again after a pause, also after it has failed, and never twice at once', async () => {
  const runs: (() => void)[] = [];
  const errors: unknown[] = [];
  const chore = every(
    1_000,
    () => new Promise((_, reject) => void runs.push(() => reject(new Error('broken')))),
    (error) => errors.push(error),
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(runs).toHaveLength(1);
  runs[0]?.();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([runs.length, errors.length]).toEqual([2, 1]);
  runs[1]?.();
  await chore.stop();
});

test('work that is stopped while it runs is told so and awaited, and does not run again', async () => {
  const runs: { stopping: AbortSignal; end(): void }[] = [];
  const chore = every(
    1_000,
    (stopping) => new Promise<void>((end) => void runs.push({ stopping, end })),
    ignore,
  );
  await vi.advanceTimersByTimeAsync(1_000);
  let isStopped = false;
  const stopped = chore.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect([runs[0]?.stopping.aborted, isStopped]).toEqual([true, false]);
  runs[0]?.end();
  await stopped;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(runs).toHaveLength(1);
});

test('work that is stopped while it rests leaves no timer behind', async () => {
  const chore = every(1_000, async () => {}, ignore);
  await vi.advanceTimersByTimeAsync(1_500);
  await chore.stop();
  expect(vi.getTimerCount()).toBe(0);
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { createWaker, restMs, runWhenWoken } from './wake.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a rest ends when it is woken, and what woke the loop before it counts once', async () => {
  const waker = createWaker();
  const ended: string[] = [];
  waker.wake();
  waker.wake();
  const first = waker.rest(60_000).then(() => ended.push('first'));
  await turn();
  expect(ended).toEqual(['first']);
  const second = waker.rest(60_000).then(() => ended.push('second'));
  await turn();
  expect(ended).toEqual(['first']);
  waker.wake();
  await turn();
  expect(ended).toEqual(['first', 'second']);
  await Promise.all([first, second]);
});

test('a rest ends after its time', async () => {
  await createWaker().rest(1);
});

test('work that is woken several times during a run is run once more, also after an error', async () => {
  const ends: ((error?: Error) => void)[] = [];
  const errors: unknown[] = [];
  const work = runWhenWoken(
    () => new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
    (error) => errors.push(error),
  );
  for (let n = 0; n < 3; n++) work.wake();
  expect(ends).toHaveLength(1);
  ends[0]?.(new Error('first'));
  await turn();
  expect([ends.length, errors.length]).toEqual([2, 1]);
  work.wake();
  const stopped = work.stop();
  ends[1]?.();
  await stopped;
  expect(ends).toHaveLength(2);
});

test('work that has ended runs again when it is woken, and a stop waits for the run', async () => {
  const ends: (() => void)[] = [];
  const work = runWhenWoken(
    () => new Promise<void>((resolve) => ends.push(resolve)),
    () => {},
  );
  work.wake();
  ends[0]?.();
  await turn();
  work.wake();
  expect(ends).toHaveLength(2);
  let hasStopped = false;
  const stopped = work.stop().then(() => {
    hasStopped = true;
  });
  await turn();
  expect(hasStopped).toBe(false);
  ends[1]?.();
  await stopped;
});

test('a loop that hears of all work polls a fifth as often', () => {
  expect([restMs(1_000, false), restMs(1_000, true)]).toEqual([1_000, 5_000]);
});

test('a rest that is ended early leaves no timer behind', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const waker = createWaker();
  const resting = waker.rest(60_000);
  waker.wake();
  await resting;
  expect(vi.getTimerCount()).toBe(0);
});

import { expect, test } from 'vitest';
import { createWaker, runWhenWoken } from './wake.ts';

test('a rest ends when it is woken, and what woke the loop before it counts once', async () => {
  const waker = createWaker();
  waker.wake();
  waker.wake();
  await waker.rest(60_000);
  const rests: string[] = [];
  const resting = waker.rest(60_000).then(() => rests.push('woken'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(rests).toEqual([]);
  waker.wake();
  await resting;
});

test('a rest ends after its time', async () => {
  await createWaker().rest(1);
});

test('work that is woken several times during a run is run once more, also after an error', async () => {
  const ends: ((error?: Error) => void)[] = [];
  const errors: unknown[] = [];
  const work = runWhenWoken(
    () => new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
    (error) => errors.push(error),
  );
  const turn = () => new Promise((resolve) => setImmediate(resolve));
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

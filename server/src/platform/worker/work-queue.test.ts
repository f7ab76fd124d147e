import { expect, test } from 'vitest';
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

import { expect, test } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

/** A job that ends when the test calls `end`. */
function job() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, ended };
}

test('runs up to the limit, starts waiting work in order, and refuses when the queue is full', async () => {
  const limit = createConcurrencyLimit({ running: 2, waiting: 2 });
  const jobs = Array.from({ length: 5 }, job);
  const started: number[] = [];
  const results = jobs.map(({ ended }, index) =>
    limit(() => {
      started.push(index);
      return ended;
    }),
  );
  await expect(results[4]).rejects.toMatchObject({ code: 'unavailable' });
  expect(started).toEqual([0, 1]);
  jobs[1]?.end();
  await results[1];
  expect(started).toEqual([0, 1, 2]);
  for (const { end } of jobs) end();
  await Promise.all(results.slice(0, 4));
  expect(started).toEqual([0, 1, 2, 3]);
});

test('work that fails frees its slot', async () => {
  const limit = createConcurrencyLimit({ running: 1, waiting: 1 });
  const failing = limit(() => Promise.reject(new Error('broken')));
  const next = limit(async () => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
  expect(await limit(async () => 'again')).toBe('again');
});

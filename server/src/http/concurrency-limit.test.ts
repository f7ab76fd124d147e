import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** Work that ends when the test says so. */
function job() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, ended };
}

test('runs no more at once than it may, keeps the order of the line, and refuses when the line is full', async () => {
  const turns = createTurns({ atOnce: 2, inLine: 2 });
  const jobs = Array.from({ length: 5 }, job);
  const started: number[] = [];
  const results = jobs.map(({ ended }, index) =>
    turns(() => {
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

test('goes on after work that fails', async () => {
  const turns = createTurns({ atOnce: 1, inLine: 1 });
  const failing = turns(() => Promise.reject(new Error('broken')));
  const next = turns(async () => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
  expect(await turns(async () => 'again')).toBe('again');
});

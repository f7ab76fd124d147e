import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { withEndOfWait } from '../src/wait-seconds.ts';

test('a wait that begins after the stop is over at once', async () => {
  const { signal } = new AbortController();
  const isOver = await withEndOfWait(
    { signal, stopping: AbortSignal.abort() },
    async (ended) => ended.aborted,
  );
  expect(isOver).toBe(true);
});

test('nothing listens any more for a wait that has ended, also if it failed', async () => {
  const [{ signal }, { signal: stopping }] = [new AbortController(), new AbortController()];
  await withEndOfWait({ signal, stopping }, async () => {});
  await withEndOfWait({ signal, stopping }, () => Promise.reject(new Error('failed'))).catch(() => {});
  expect([signal, stopping].map((one) => getEventListeners(one, 'abort').length)).toEqual([0, 0]);
});

import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { refuseExcess } from '../src/refuse-excess.ts';
import { parseWaitSeconds, withEndOfWait } from '../src/wait-seconds.ts';

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

test('a wait is a whole number of seconds within its bounds', () => {
  const bounds = { minimum: 1, default: 20 };
  expect([undefined, null, 1, 30].map((value) => parseWaitSeconds(value, bounds))).toEqual([20, 20, 1, 30]);
  for (const value of [0, -1, 31, 1.5, '5', Number.NaN])
    expect(() => parseWaitSeconds(value, bounds)).toThrow('wait_seconds must be an integer from 1 to 30');
});

test('ten messages with texts of 256 characters are taken, and no more', () => {
  const message = (length: number) => ({ id: 'x'.repeat(length), method: 'tools/list' });
  const batch = (count: number) => Array.from({ length: count }, () => message(256));
  expect([refuseExcess(message(256)), refuseExcess(batch(10))]).toEqual([null, null]);
  for (const excess of [message(257), batch(11), [...batch(9), message(257)]])
    expect(refuseExcess(excess)?.status).toBe(400);
});

import { afterEach, expect, test, vi } from 'vitest';
import { untilDrained } from './output.ts';

const { stdout } = process;
const isWaiting = (wait: Promise<unknown>) =>
  Promise.race([wait.then(() => false), new Promise((resolve) => setImmediate(() => resolve(true)))]);

afterEach(() => vi.restoreAllMocks());

test('nobody waits while standard output takes what is written', async () => {
  vi.spyOn(stdout, 'writableNeedDrain', 'get').mockReturnValue(false);
  expect(await isWaiting(untilDrained(new AbortController().signal))).toBe(false);
});

test('a reader that is slower than we are is waited for, until it reads or until we stop', async () => {
  vi.spyOn(stdout, 'writableNeedDrain', 'get').mockReturnValue(true);
  const listeners = stdout.listenerCount('drain');
  const read = untilDrained(new AbortController().signal);
  expect(await isWaiting(read)).toBe(true);
  stdout.emit('drain');
  await read;

  const stopping = new AbortController();
  const stopped = untilDrained(stopping.signal);
  expect(await isWaiting(stopped)).toBe(true);
  stopping.abort();
  await stopped;
  expect(await isWaiting(untilDrained(stopping.signal))).toBe(false);
  expect(stdout.listenerCount('drain')).toBe(listeners);
});

import type { Batch } from '@simplane/sdk';
import { afterEach, expect, test, vi } from 'vitest';
import { createProgram } from '../program.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const batch: Partial<Batch> = { id: 'bat_1', total: 2, succeeded: 1, failed: 0, open: 1, canceled: 0 };

type Answer = (call: number, signal: AbortSignal) => Promise<Response>;

/** Waits ten minutes for a batch, and returns the exit code after this time. */
async function exitCodeAfter(ms: number, answer: Answer) {
  vi.useFakeTimers();
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true);
  let calls = 0;
  vi.stubGlobal('fetch', (_: string, { signal }: { signal: AbortSignal }) => answer(calls++, signal));
  const args = ['batches', 'get', 'bat_1', '--wait', '--timeout', '10m'];
  const to = ['--base-url', 'http://127.0.0.1:9', '--api-key', 'sp_test_1'];
  const before = process.exitCode;
  const running = createProgram().parseAsync(['node', 'simplane', ...args, ...to]);
  await vi.advanceTimersByTimeAsync(ms);
  await running;
  const { exitCode } = process;
  process.exitCode = before;
  return exitCode;
}

const open = async () => Response.json(batch);

test('a batch that is open when the time is over is unfinished', async () => {
  expect(await exitCodeAfter(601_000, open)).toBe(5);
});

const never = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('a service that does not answer any more is not a batch that goes on', async () => {
  expect(await exitCodeAfter(120_000, (call, signal) => (call === 0 ? open() : never(signal)))).toBe(3);
});

test.each([
  [0, undefined],
  [1, 1],
])('a batch of which %i of two orders failed ends with %s', async (failed, code) => {
  const ended = { ...batch, succeeded: 2 - failed, failed, open: 0 };
  expect(await exitCodeAfter(60_000, async () => Response.json(ended))).toBe(code);
});

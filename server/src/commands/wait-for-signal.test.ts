import { afterEach, expect, test, vi } from 'vitest';
import { waitForSignal } from './wait-for-signal.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;
const before = signals.map((name) => [name, process.listeners(name)] as const);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const [name, listeners] of before)
    for (const one of process.listeners(name)) if (!listeners.includes(one)) process.off(name, one);
});

test('the first signal asks for a stop, its copy from npm does nothing, and a later one exits', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const stopped = waitForSignal();
  process.emit('SIGINT');
  expect(await stopped).toBe('SIGINT');
  vi.advanceTimersByTime(1_000);
  process.emit('SIGINT');
  expect(exit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  process.emit('SIGTERM');
  expect(exit).toHaveBeenCalledExactlyOnceWith(1);
});

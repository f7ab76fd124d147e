import { afterEach, expect, test, vi } from 'vitest';
import { handleStopSignals } from './stop.ts';

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
const before = signals.map((name) => [name, process.listeners(name)] as const);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const [name, listeners] of before)
    for (const one of process.listeners(name)) if (!listeners.includes(one)) process.off(name, one);
});

test('the first signal asks for a stop, its copy from npx does nothing, and a later one ends the command', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const stop = handleStopSignals();
  expect(stop.signal.aborted).toBe(false);
  process.emit('SIGINT');
  expect(stop.signal.aborted).toBe(true);
  vi.advanceTimersByTime(1_000);
  process.emit('SIGINT');
  expect(exit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  process.emit('SIGTERM');
  expect(exit).toHaveBeenCalledExactlyOnceWith(143);
});

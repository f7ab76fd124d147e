import { expect, test } from 'vitest';
import { onAbort, withDeadline } from './deadline.ts';

test('whoever listens is told once when the signal fires, unless it has let go', () => {
  const controller = new AbortController();
  const told: string[] = [];
  onAbort(controller.signal, () => told.push('stays'));
  const letGo = onAbort(controller.signal, () => told.push('goes'));
  letGo();
  controller.abort();
  controller.abort();
  expect(told).toEqual(['stays']);
});

test('whoever comes after the signal has fired is told at once', () => {
  const told: string[] = [];
  onAbort(AbortSignal.abort(), () => told.push('late'));
  expect(told).toEqual(['late']);
});

test('work is ended by the deadline, and by the signal that stops everything', async () => {
  const untilAborted = (signal: AbortSignal) =>
    new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => resolve('ended'));
      if (signal.aborted) resolve('ended before it began');
    });
  const never = new AbortController().signal;
  expect(await withDeadline(1, never, untilAborted)).toBe('ended');
  const stopping = new AbortController();
  const running = withDeadline(60_000, stopping.signal, untilAborted);
  stopping.abort();
  expect(await running).toBe('ended');
  expect(await withDeadline(60_000, stopping.signal, untilAborted)).toBe('ended before it began');
});

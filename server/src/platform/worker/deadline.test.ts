import { expect, onTestFinished, test, vi } from 'vitest';
import { onAbort, withDeadline } from './deadline.ts';

test('a listener is called once when the signal fires, unless it was removed', () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => called.push('kept'));
  const remove = onAbort(controller.signal, () => called.push('removed'));
  remove();
  controller.abort();
  controller.abort();
  expect(called).toEqual(['kept']);
});

test('a listener added after the signal fired is called at once', () => {
  const called: string[] = [];
  onAbort(AbortSignal.abort(), () => called.push('late'));
  expect(called).toEqual(['late']);
});

test('the deadline aborts the work and says so, and so does the stop signal', async () => {
  let ended = 0;
  const onEnd = () => void ended++;
  const untilAborted = (signal: AbortSignal) =>
    new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => resolve('ended'));
      if (signal.aborted) resolve('ended before it began');
    });
  const never = new AbortController().signal;
  expect(await withDeadline({ ms: 1, stopping: never, onEnd }, untilAborted)).toBe('ended');
  const stopping = new AbortController();
  const running = withDeadline({ ms: 60_000, stopping: stopping.signal, onEnd }, untilAborted);
  stopping.abort();
  expect(await running).toBe('ended');
  expect(await withDeadline({ ms: 60_000, stopping: stopping.signal, onEnd }, untilAborted)).toBe(
    'ended before it began',
  );
  expect(ended).toBe(3);
  expect(await withDeadline({ ms: 60_000, stopping: never, onEnd }, async () => 'done')).toBe('done');
  expect(ended).toBe(3);
});

test('work that has ended leaves nothing on the stop signal, which lives as long as the process', async () => {
  const stopping = new AbortController();
  let given: AbortSignal | undefined;
  const onEnd = () => expect.unreachable('it has ended before');
  await withDeadline({ ms: 60_000, stopping: stopping.signal, onEnd }, async (signal) => {
    given = signal;
  });
  stopping.abort();
  expect(given?.aborted).toBe(false);
});

test('work that has ended, or failed, leaves no timer behind', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const deadline = { ms: 60_000, stopping: new AbortController().signal, onEnd: () => {} };
  await withDeadline(deadline, async () => {});
  await withDeadline(deadline, () => Promise.reject(new Error('no'))).catch(() => {});
  expect(vi.getTimerCount()).toBe(0);
});

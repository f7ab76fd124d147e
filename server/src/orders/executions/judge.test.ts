import { expect, test } from 'vitest';
import { notCalled } from './breaker.ts';
import { judge, tooManyAttempts } from './judge.ts';

const lost = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'No answer.' },
} as const;
const down = { ...lost, isDown: true } as const;

type Attempt = Parameters<typeof judge>[0];
const verdictOf = (attempt: Partial<Attempt>) =>
  judge({
    outcome: lost,
    failures: 0,
    isStopping: false,
    isPausable: true,
    isPaused: false,
    retryScheduleMs: [1_000, 5_000],
    ...attempt,
  });

test('a failure of the network is retried on schedule, and the one after the last delay is final', () => {
  expect(verdictOf({ failures: 0 })).toEqual({ kind: 'retried', delayMs: 1_000, failures: 1 });
  expect(verdictOf({ failures: 1 })).toEqual({ kind: 'retried', delayMs: 5_000, failures: 2 });
  expect(verdictOf({ failures: 2 })).toEqual({
    kind: 'failed',
    error: {
      code: 'network_unavailable',
      message: 'The network failed 3 times; try again later. Last error: No answer.',
      retryable: true,
    },
  });
});

test('an attempt that a shutdown aborted is given back, unless the runner has ended the execution', () => {
  expect(verdictOf({ isStopping: true, failures: 2 })).toEqual({ kind: 'released' });
  expect(verdictOf({ isStopping: true, outcome: { kind: 'done' } })).toEqual({ kind: 'ended' });
});

test('an execution waits if the pause kept it from calling, or its own call began the pause', () => {
  expect(verdictOf({ outcome: notCalled })).toEqual({ kind: 'waits_for_network' });
  expect(verdictOf({ outcome: down, isPaused: true })).toEqual({ kind: 'waits_for_network' });
  expect(verdictOf({ outcome: down })).toMatchObject({ kind: 'retried' });
  expect(verdictOf({ isPaused: true })).toMatchObject({ kind: 'retried' });
});

test('an execution that did not reach the network waits without using up an attempt, however often that was', () => {
  const unreached = { ...down, hadNoEffect: true, isUnreached: true } as const;
  expect(verdictOf({ outcome: unreached, failures: 2 })).toEqual({ kind: 'waits_for_network' });
  expect(verdictOf({ outcome: unreached, isStopping: true })).toEqual({ kind: 'released' });
  expect(verdictOf({ outcome: unreached, isPausable: false })).toMatchObject({ kind: 'retried' });
});

test('the last attempt is not final during a pause, because nothing could be rolled back', () => {
  expect(verdictOf({ failures: 2, isPaused: true })).toEqual({ kind: 'waits_for_network' });
  expect(verdictOf({ failures: 2, isPaused: true, isPausable: false })).toMatchObject({ kind: 'failed' });
});

test('an execution that crashes its worker again and again ends', () => {
  expect(tooManyAttempts(22, [1_000, 5_000])).toBeNull();
  expect(tooManyAttempts(23, [1_000, 5_000])).toMatchObject({ code: 'internal', retryable: true });
});

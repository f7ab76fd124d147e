import { expect, test } from 'vitest';
import { createBreaker } from './breaker.ts';
import { createGiveBack } from './give-back.ts';
import type { ClaimedExecution } from './runner.ts';

const nowMs = 1_800_000_000_000;
const down = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'x' },
  isDown: true,
} as const;

function start(attempts = 1) {
  const stored: unknown[] = [];
  const outcomes: string[] = [];
  const errors: unknown[] = [];
  const breaker = createBreaker({ afterFailures: 1, pauseMs: 10_000, nowMs: () => 0, onChange() {} });
  const options = {
    db: {
      query: async (_: unknown, [, , , delayMs, uncounted, progress]: unknown[]) => {
        stored.push({ delayMs, uncounted, progress: JSON.parse(progress as string) });
        return [];
      },
    },
    clock: { nowMs: () => nowMs },
    leaseMs: 30_000,
    onOutcome: (_: string, outcome: string) => outcomes.push(outcome),
    onError: (...told: unknown[]) => errors.push(told),
  } as unknown as Parameters<typeof createGiveBack>[0];
  const id = '018f2d6a-0000-7000-8000-000000000000';
  const execution = { id, type: 'esim.provision', attempts } as ClaimedExecution;
  return { giveBack: createGiveBack(options, breaker), execution, breaker, stored, outcomes, errors };
}

test('at a shutdown an execution is due at once, waits for nothing, and its attempt does not count', async () => {
  const { giveBack, execution, stored } = start();
  expect(await giveBack.atShutdown(execution)).toBeUndefined();
  expect(stored).toEqual([{ delayMs: 0, uncounted: 1, progress: {} }]);
});

test('in a pause it is due a little before the end, and its attempt does not count', async () => {
  const { giveBack, execution, breaker, stored } = start();
  breaker.permit()?.end(down);
  expect(await giveBack.untilNetworkWorks(execution)).toEqual({ againInMs: 10_000 });
  expect(stored).toEqual([{ delayMs: 9_500, uncounted: 1, progress: { waiting_for: 'network' } }]);
});

test('after a failure of the network the attempt counts, and so does the failure', async () => {
  const { giveBack, execution, stored, outcomes } = start();
  expect(await giveBack.afterFailure(execution, { delayMs: 5_000, failures: 2 })).toEqual({
    againInMs: 5_000,
  });
  expect(stored).toEqual([
    { delayMs: 5_000, uncounted: 0, progress: { failures: 2, waiting_for: 'network' } },
  ]);
  expect(outcomes).toEqual(['postponed']);
});

test.each([
  [1, 2_000],
  [3, 8_000],
  [9, 30_000],
])('after error %i of ours it waits %i ms, never longer than a lease', async (attempts, delayMs) => {
  const { giveBack, execution, stored, errors } = start(attempts);
  const error = new Error('ours');
  expect(await giveBack.afterError(execution, error)).toEqual({ againInMs: delayMs });
  expect(stored).toMatchObject([
    { delayMs, uncounted: 0, progress: { waiting_for: 'internal', last_error: { at: nowMs } } },
  ]);
  // The log names the execution: nobody else knows what failed.
  const about = { execution_id: expect.stringMatching(/^exec_/), type: 'esim.provision', attempts };
  expect(errors).toEqual([[error, about]]);
});

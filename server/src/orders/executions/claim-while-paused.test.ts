import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import { createBreaker } from './breaker.ts';
import { createPausedClaim } from './claim-while-paused.ts';

test('a claim that finds nothing but paused executions is not read again by the next', async () => {
  const nowMs = 1_800_000_000_000;
  const since: unknown[] = [];
  const db = {
    query: async (_: unknown, values: unknown[]) => {
      since.push(values[2]);
      return [];
    },
  } as unknown as Queryable;
  const breaker = createBreaker({ afterFailures: 1, pauseMs: 600_000, onChange() {} });
  breaker.permit()?.end({
    kind: 'failed',
    reason: { code: 'network_unavailable', message: 'x' },
    isDown: true,
  });
  const claim = createPausedClaim(
    {
      db,
      clock: { nowMs: () => nowMs },
      leaseMs: 1_000,
      paused: ['esim.provision'],
      others: ['esim.suspend'],
    },
    breaker,
  );
  await claim(5);
  await claim(5);
  expect(since[0]).toBe('-infinity');
  expect((since[1] as Date).getTime()).toBe(nowMs - 250);
});

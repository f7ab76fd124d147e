import { expect, test } from 'vitest';
import { createBreaker } from './breaker.ts';
import { createClaim } from './claim.ts';
import type { ClaimedExecution, Runner } from './runner.ts';

const nowMs = 1_800_000_000_000;
const runner = { run: async () => ({ kind: 'done' as const }), fail: async () => {} };

type Options = Parameters<typeof createClaim>[0];

type Row = Partial<ClaimedExecution>;

const probe: Row = { type: 'esim.provision', id: 'probe' };

/** Claims from a database that returns `answers`, and then `rows` each time. */
function start(rows: Row[], provision: Partial<Runner> = {}, answers: Row[][] = []) {
  const since: unknown[] = [];
  const counts: unknown[] = [];
  const times = { nowMs: 0 };
  const postponed: ClaimedExecution[] = [];
  const options = {
    db: {
      query: async (_: unknown, values: unknown[]) => {
        since.push(values[2]);
        counts.push(values[0]);
        return answers[counts.length - 1] ?? rows;
      },
    },
    clock: { nowMs: () => nowMs },
    leaseMs: 1_000,
    runners: { 'esim.provision': { ...runner, isPausable: true, ...provision }, 'esim.suspend': runner },
  } as unknown as Options;
  const breaker = createBreaker({
    afterFailures: 1,
    pauseMs: 600_000,
    nowMs: () => times.nowMs,
    onChange() {},
  });
  const { claim } = createClaim(options, breaker, async (execution) => postponed.push(execution));
  return { claim, breaker, since, counts, times, postponed };
}

test('a claim that finds nothing but paused executions is not read again by the next', async () => {
  const { claim, breaker, since } = start([]);
  breaker.permit()?.end({
    kind: 'failed',
    reason: { code: 'network_unavailable', message: 'x' },
    isDown: true,
  });
  await claim(5);
  await claim(5);
  expect(since[0]).toBe('-infinity');
  expect((since[1] as Date).getTime()).toBe(nowMs - 250);
});

test('a full claim during a pause is followed by one from where it ended: it may have left some', async () => {
  const row = { type: 'esim.suspend', due_at: new Date(nowMs - 60_000) } as Partial<ClaimedExecution>;
  const { claim, breaker, since } = start([row]);
  const reason = { code: 'network_unavailable', message: 'x' } as const;
  breaker.permit()?.end({ kind: 'failed', reason, isDown: true });
  await claim(1);
  await claim(1);
  expect(since).toEqual(['-infinity', new Date(nowMs - 60_250)]);
});

test('after a pause one execution is claimed for the probe, and only others beside it', async () => {
  const { claim, breaker, counts, times } = start([]);
  const reason = { code: 'network_unavailable', message: 'x' } as const;
  breaker.permit()?.end({ kind: 'failed', reason, isDown: true });
  times.nowMs = 600_000;
  await claim(5);
  expect(counts).toEqual([1, 1, 5]); // an order that can be repeated, any order, and what is not paused
});

test('a claim gives back the ICCIDs that it did not allot', async () => {
  const returned: string[] = [];
  const stock = () => ({
    take: async () => ['1', '2', '3'],
    giveBack: (iccids: string[]) => void returned.push(...iccids),
  });
  const { claim } = start([{ type: 'esim.provision', iccid: '2' }], { stock });
  expect(await claim(3)).toMatchObject([{ iccid: '2' }]);
  expect(returned).toEqual(['1', '3']);
});

test('of a batch that cannot be prepared, only the bad execution is postponed', async () => {
  const prepare: Runner['prepare'] = async (_, executions) => {
    if (executions.some(({ id }) => id === 'bad')) throw new Error('bad');
    return executions;
  };
  const { claim, postponed } = start(
    [
      { type: 'esim.provision', id: 'a' },
      { type: 'esim.provision', id: 'bad' },
      { type: 'esim.suspend', id: 'b' },
    ],
    { prepare },
  );
  expect((await claim(3)).map(({ id }) => id)).toEqual(['a', 'b']);
  expect(postponed.map(({ id }) => id)).toEqual(['bad']);
});

test('the next claim begins where the latest of the claimed executions was due', async () => {
  const due = (agoMs: number) => ({ type: 'esim.suspend', due_at: new Date(nowMs - agoMs) }) as const;
  const { claim, since } = start([due(300), due(100), due(200)]);
  await claim(5);
  await claim(5);
  expect(since).toEqual(['-infinity', new Date(nowMs - 100 - 250)]);
});

test.each([
  ['that can be repeated', [[probe]], [1]],
  ['that cannot, where there is no other', [[], [probe]], [1, 1]],
])('an execution %s is claimed for the probe alone', async (_, answers, asked) => {
  const { claim, breaker, counts, times } = start([], {}, answers);
  const reason = { code: 'network_unavailable', message: 'x' } as const;
  breaker.permit()?.end({ kind: 'failed', reason, isDown: true });
  times.nowMs = 600_000;
  expect(await claim(5)).toEqual([probe]);
  expect(counts).toEqual(asked);
});

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createClockSkew } from '../platform/processes/clock-skew.ts';
import { workWhileClockIsRight } from './work-while-clock-is-right.ts';

function begin(aheadMs = 0) {
  const state = { aheadMs, happened: [] as string[], logged: [] as string[] };
  let endStop = () => {};
  const log = (level: string) => () => void state.logged.push(level);
  const clockSkew = new Gauge({ name: 'skew', help: 'x', registers: [new Registry()] });
  const work = workWhileClockIsRight({
    skew: createClockSkew({ nowMs: () => 0 }, () => state.aheadMs),
    start() {
      state.happened.push('started');
      return {
        isPaused: () => true,
        async stop(timeoutMs) {
          state.happened.push(`stopping within ${timeoutMs}`);
          await new Promise<void>((resolve) => {
            endStop = resolve;
          });
          state.happened.push('stopped');
        },
      };
    },
    log: { info: log('info'), warn: log('warn'), error: log('error') } as never,
    metrics: { clockSkew },
    stopTimeoutMs: 7_000,
    onError(error) {
      throw error;
    },
  });
  return {
    ...state,
    work,
    clockSkew,
    endStop: () => endStop(),
    async measure(ms: number) {
      state.aheadMs = ms;
      work.check();
      await nextTurn();
    },
  };
}

test('work stops once while the clock is wrong, and starts again only when all of it has stopped', async () => {
  const { work, measure, happened, endStop } = begin();
  await measure(100);
  expect([happened, work.isPaused('network')]).toEqual([['started'], true]);
  await measure(31_000);
  await measure(32_000);
  await measure(0);
  expect([happened, work.isPaused('network')]).toEqual([['started', 'stopping within 7000'], false]);
  endStop();
  await nextTurn();
  expect(happened).toEqual(['started', 'stopping within 7000', 'stopped', 'started']);
});

test('a process with a wrong clock does not start to work, and a stopped one does not start again', async () => {
  const { work, measure, happened } = begin(-31_000);
  await measure(-31_000);
  expect(happened).toEqual([]);
  await work.stop(1);
  await measure(0);
  expect(happened).toEqual([]);
});

test('each change is logged once, and the metric has the last value', async () => {
  const { measure, logged, clockSkew } = begin(1_000);
  for (const ms of [2_500, 2_600, 31_000, 32_000, 5_000, 0, 500]) await measure(ms);
  expect(logged).toEqual(['warn', 'error', 'warn', 'info']);
  expect((await clockSkew.get()).values[0]?.value).toBe(0.5);
});

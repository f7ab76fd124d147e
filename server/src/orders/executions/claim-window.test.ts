import { expect, test } from 'vitest';
import { createClaimWindow } from './claim-window.ts';

// Later than the first window of a worker that has claimed nothing yet.
const soon = 1_800_000_000_000;
const clock = { nowMs: () => soon - 1_000 };

function start() {
  let nowMs = 0;
  const sinces: (number | null)[] = [];
  const claimInWindow = createClaimWindow(clock, () => nowMs);
  return {
    sinces,
    wait(ms: number) {
      nowMs += ms;
    },
    fail: (takesMs: number) =>
      claimInWindow<{ latestDueAt: Date | null }>(async (since) => {
        sinces.push(since?.getTime() ?? null);
        nowMs += takesMs;
        throw new Error('too long');
      }),
    claim: (dueAtMs: number | null, takesMs = 0) =>
      claimInWindow(async (since) => {
        sinces.push(since?.getTime() ?? null);
        nowMs += takesMs;
        return { latestDueAt: dueAtMs === null ? null : new Date(dueAtMs) };
      }),
  };
}

test('a claim starts slightly before the latest due time claimed so far', async () => {
  const { claim, sinces } = start();
  await claim(soon);
  await claim(soon + 500);
  await claim(null);
  await claim(soon + 400);
  await claim(null);
  expect(sinces).toEqual([null, soon - 250, soon + 250, soon + 250, soon + 250]);
});

test('the first claim, and one claim a second, is a fallback scan', async () => {
  const { claim, sinces, wait } = start();
  await claim(null);
  wait(1_000);
  await claim(soon);
  await claim(soon);
  wait(1_000);
  await claim(soon);
  await claim(soon);
  expect(sinces).toEqual([null, null, soon - 250, null, soon - 250]);
});

test('a fallback scan that fails is not repeated immediately, not even the first one', async () => {
  const { sinces, wait, fail, claim } = start();
  await expect(fail(10_000)).rejects.toThrow('too long');
  await claim(null);
  wait(199_999);
  await claim(null);
  wait(1);
  await claim(null);
  expect(sinces.map((since) => since === null)).toEqual([true, false, false, true]);
});

test('after a slow fallback scan the next one waits 20 times its duration', async () => {
  const { claim, sinces, wait } = start();
  await claim(soon, 100);
  wait(1_999);
  await claim(soon);
  wait(1);
  await claim(soon);
  expect(sinces).toEqual([null, soon - 250, null]);
});

test('the window of a worker that has claimed nothing yet is that of the service’s clock', async () => {
  const { claim, sinces } = start();
  await claim(null);
  await claim(null);
  expect(sinces).toEqual([null, soon - 1_000 - 60_000 - 250]);
});

test('a fallback scan that finds nothing does not make the next claim look further back', async () => {
  const { claim, sinces, wait } = start();
  await claim(soon);
  wait(1_000);
  await claim(null);
  await claim(null);
  expect(sinces).toEqual([null, null, soon - 250]);
});

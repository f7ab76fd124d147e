import { expect, test } from 'vitest';
import { createClaimWindow } from './claim-window.ts';

// Later than where a worker starts that has claimed nothing yet.
const soon = Date.now() + 1_000;

function start() {
  let nowMs = 0;
  const sinces: (number | null)[] = [];
  const claimInWindow = createClaimWindow(() => nowMs);
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

test('a claim looks from a little before what was claimed last, whatever it found', async () => {
  const { claim, sinces } = start();
  await claim(soon);
  await claim(soon + 500);
  await claim(null);
  await claim(soon + 400);
  await claim(null);
  expect(sinces).toEqual([null, soon - 250, soon + 250, soon + 250, soon + 250]);
});

test('the first claim, and one a second, looks from the start', async () => {
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

test('a look from the start that fails is not repeated at once, not even the first one', async () => {
  const { sinces, wait, fail, claim } = start();
  await expect(fail(10_000)).rejects.toThrow('too long');
  await claim(null);
  wait(199_999);
  await claim(null);
  wait(1);
  await claim(null);
  expect(sinces.map((since) => since === null)).toEqual([true, false, false, true]);
});

test('a look from the start that took long rests for 20 times as long', async () => {
  const { claim, sinces, wait } = start();
  await claim(soon, 100);
  wait(1_999);
  await claim(soon);
  wait(1);
  await claim(soon);
  expect(sinces).toEqual([null, soon - 250, null]);
});

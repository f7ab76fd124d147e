import { expect, test } from 'vitest';
import { createClaimWindow } from './claim-window.ts';

function start() {
  let nowMs = 0;
  const sinces: (number | null)[] = [];
  const claimInWindow = createClaimWindow(() => nowMs);
  return {
    sinces,
    wait(ms: number) {
      nowMs += ms;
    },
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
  await claim(10_000);
  await claim(10_500);
  await claim(null);
  await claim(10_400);
  await claim(null);
  expect(sinces).toEqual([null, 9_750, 10_250, 10_250, 10_250]);
});

test('until something was claimed, and once a second, a claim looks from the start', async () => {
  const { claim, sinces, wait } = start();
  await claim(null);
  await claim(10_000);
  await claim(10_000);
  wait(1_000);
  await claim(10_000);
  await claim(10_000);
  expect(sinces).toEqual([null, null, 9_750, null, 9_750]);
});

test('a look from the start that took long rests for 20 times as long', async () => {
  const { claim, sinces, wait } = start();
  await claim(10_000, 100);
  wait(1_999);
  await claim(10_000);
  wait(1);
  await claim(10_000);
  expect(sinces).toEqual([null, 9_750, null]);
});

import { expect, test } from 'vitest';
import { createLanes } from './lanes.ts';

function lanesAt() {
  let nowMs = 0;
  return { lanes: createLanes(() => nowMs), wait: (ms: number) => (nowMs += ms) };
}

test('an endpoint starts with one in flight, doubles with success and falls back to one with a failure', () => {
  const { lanes, wait } = lanesAt();
  expect(lanes.roomFor('a')).toBe(1);
  for (const cap of [2, 4, 8]) {
    lanes.started('a', 'account');
    expect(lanes.finished('a', true)).toBe(0);
    expect(lanes.roomFor('a')).toBe(cap);
  }
  lanes.started('a', 'account');
  expect(lanes.finished('a', false)).toBe(250);
  expect(lanes.roomFor('a')).toBe(0);
  wait(250);
  expect(lanes.roomFor('a')).toBe(1);
});

test('one that keeps failing rests longer each time, at most five seconds', () => {
  const { lanes, wait } = lanesAt();
  const rests = Array.from({ length: 8 }, () => {
    lanes.started('a', 'account');
    const rest = lanes.finished('a', false);
    wait(rest);
    return rest;
  });
  expect(rests).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
});

test('what the database remembers counts until this process has its own experience', () => {
  const { lanes } = lanesAt();
  lanes.learn('a', true);
  expect(lanes.isProven('a')).toBe(true);
  lanes.started('a', 'account');
  lanes.finished('a', false);
  lanes.learn('a', true);
  expect(lanes.isProven('a')).toBe(false);
});

test('endpoints that were not sent to for a while are forgotten, those in flight are not', () => {
  const { lanes, wait } = lanesAt();
  for (const id of ['busy', 'idle']) {
    lanes.learn(id, true);
    lanes.started(id, 'account');
  }
  lanes.finished('idle', true);
  wait(61_000);
  lanes.forgetIdle();
  expect([...lanes.busyOf('account')]).toEqual(['busy']);
});

import { expect, test } from 'vitest';
import { createLanes, type Lanes } from './lanes.ts';

function lanesAt() {
  let nowMs = 0;
  return { lanes: createLanes(() => nowMs), wait: (ms: number) => (nowMs += ms) };
}

function claim(lanes: Lanes, endpointUuid: string) {
  lanes.claimed(endpointUuid, 'account');
  return lanes.turn(endpointUuid);
}

/** One whose turn it is at once. */
function start(lanes: Lanes, endpointUuid: string): void {
  expect(claim(lanes, endpointUuid)).toBe(true);
}

/** At full speed: 64 being sent, as many waiting. */
function fill(lanes: Lanes, endpointUuid: string): Promise<boolean>[] {
  for (let cap = 1; cap < 64; cap *= 2) {
    start(lanes, endpointUuid);
    lanes.finished(endpointUuid, true);
  }
  expect(lanes.roomFor(endpointUuid)).toBe(128);
  const turns = Array.from({ length: 128 }, () => claim(lanes, endpointUuid));
  expect(turns.slice(0, 64).every((turn) => turn === true)).toBe(true);
  return turns.slice(64) as Promise<boolean>[];
}

test('an endpoint starts with one in flight, doubles with success and falls back to one with a failure', () => {
  const { lanes, wait } = lanesAt();
  expect(lanes.roomFor('a')).toBe(1);
  for (const cap of [2, 4, 8]) {
    start(lanes, 'a');
    expect(lanes.finished('a', true)).toBe(0);
    expect(lanes.roomFor('a')).toBe(cap);
  }
  start(lanes, 'a');
  expect(lanes.finished('a', false)).toBe(250);
  expect(lanes.roomFor('a')).toBe(0);
  wait(250);
  expect(lanes.roomFor('a')).toBe(1);
});

test('one that keeps failing rests longer each time, at most five seconds', () => {
  const { lanes, wait } = lanesAt();
  const rests = Array.from({ length: 8 }, () => {
    start(lanes, 'a');
    const rest = lanes.finished('a', false);
    wait(rest);
    return rest;
  });
  expect(rests).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
});

test('what the database remembers counts until this process has its own experience', () => {
  const { lanes } = lanesAt();
  expect(lanes.standingOf('a')).toBe('untried');
  lanes.learn('a', 'proven');
  expect(lanes.standingOf('a')).toBe('proven');
  start(lanes, 'a');
  lanes.finished('a', false);
  lanes.learn('a', 'proven');
  expect(lanes.standingOf('a')).toBe('failing');
});

test('endpoints that were not sent to for a while are forgotten, those in flight are not', () => {
  const { lanes, wait } = lanesAt();
  for (const id of ['busy', 'idle']) {
    lanes.learn(id, 'proven');
    start(lanes, id);
  }
  lanes.finished('idle', true);
  wait(61_000);
  lanes.forgetIdle();
  expect([...lanes.busyOf('account')]).toEqual(['busy']);
});

test('at full speed as many wait as are being sent; each that ends lets the next one go, and a quarter is claimed at once', async () => {
  const { lanes } = lanesAt();
  const waiting = fill(lanes, 'a');
  for (let ended = 1; ended <= 32; ended++) {
    expect(lanes.roomFor('a')).toBe(0);
    if (ended % 2 === 0) lanes.finished('a', true);
    else lanes.released('a');
    expect(await waiting[ended - 1]).toBe(true);
  }
  expect(lanes.roomFor('a')).toBe(32);
});

test('a failure sends those away that wait, and nobody waits for a place that is not there', async () => {
  const { lanes, wait } = lanesAt();
  const waiting = fill(lanes, 'a');
  wait(lanes.finished('a', false));
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => false));
  expect(lanes.roomFor('a')).toBe(0);
  for (let sent = 0; sent < 63; sent++) lanes.released('a');
  expect(lanes.roomFor('a')).toBe(1);
});

test('one that cannot be sent to for a reason of ours rests, gives back what waits, and keeps its standing', async () => {
  const { lanes, wait } = lanesAt();
  const waiting = fill(lanes, 'a');
  lanes.postponed('a', 1_000);
  expect(await Promise.all(waiting)).toEqual(Array(64).fill(false));
  for (let i = 1; i < 64; i++) lanes.released('a');
  expect(lanes.roomFor('a')).toBe(0);
  wait(1_000);
  expect(lanes.roomFor('a')).toBe(128);
  expect(lanes.standingOf('a')).toBe('proven');
});

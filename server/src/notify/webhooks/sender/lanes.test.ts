import { expect, test } from 'vitest';
import { createLanes, type Lanes } from './lanes.ts';

function lanesAt() {
  let nowMs = 0;
  return { lanes: createLanes(() => nowMs), wait: (ms: number) => (nowMs += ms) };
}

function claim(lanes: Lanes, endpointUuid: string) {
  lanes.claimed(endpointUuid, 'account');
  return lanes.acquireSlot(endpointUuid);
}

/** Claims a delivery that gets a slot immediately. */
function start(lanes: Lanes, endpointUuid: string): void {
  expect(claim(lanes, endpointUuid)).toBe(true);
}

/** Brings the lane to full concurrency: 64 in flight, 64 waiting. */
function fill(lanes: Lanes, endpointUuid: string): Promise<boolean>[] {
  for (let concurrency = 1; concurrency < 64; concurrency *= 2) {
    start(lanes, endpointUuid);
    lanes.finished(endpointUuid, true);
  }
  expect(lanes.roomFor(endpointUuid)).toBe(128);
  const slots = Array.from({ length: 128 }, () => claim(lanes, endpointUuid));
  expect(slots.slice(0, 64).every((slot) => slot === true)).toBe(true);
  return slots.slice(64) as Promise<boolean>[];
}

test('concurrency starts at one, doubles on success and falls back to one on failure', () => {
  const { lanes, wait } = lanesAt();
  expect(lanes.roomFor('a')).toBe(1);
  for (const concurrency of [2, 4, 8]) {
    start(lanes, 'a');
    expect(lanes.finished('a', true)).toBe(0);
    expect(lanes.roomFor('a')).toBe(concurrency);
  }
  start(lanes, 'a');
  expect(lanes.finished('a', false)).toBe(250);
  expect(lanes.roomFor('a')).toBe(0);
  wait(250);
  expect(lanes.roomFor('a')).toBe(1);
});

test('an endpoint that keeps failing is paused longer each time, at most five seconds', () => {
  const { lanes, wait } = lanesAt();
  const pauses = Array.from({ length: 8 }, () => {
    start(lanes, 'a');
    const pauseMs = lanes.finished('a', false);
    wait(pauseMs);
    return pauseMs;
  });
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
});

test('the standing from the database applies until this process has seen an attempt', () => {
  const { lanes } = lanesAt();
  expect(lanes.standingOf('a')).toBe('untried');
  lanes.learn('a', 'proven');
  expect(lanes.standingOf('a')).toBe('proven');
  start(lanes, 'a');
  lanes.finished('a', false);
  lanes.learn('a', 'proven');
  expect(lanes.standingOf('a')).toBe('failing');
});

test('idle endpoints are forgotten; endpoints with a delivery in flight are not', () => {
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

test('at full concurrency each finished delivery starts a waiting one, and claims refill a quarter at once', async () => {
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

test('a failure rejects the waiting deliveries and leaves room for one once the others have ended', async () => {
  const { lanes, wait } = lanesAt();
  const waiting = fill(lanes, 'a');
  wait(lanes.finished('a', false));
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => false));
  expect(lanes.roomFor('a')).toBe(0);
  for (let sent = 0; sent < 63; sent++) lanes.released('a');
  expect(lanes.roomFor('a')).toBe(1);
});

test('postponing pauses the endpoint, rejects the waiting deliveries and keeps its standing', async () => {
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

test('an urgent delivery gets a slot beyond the concurrency', async () => {
  const { lanes } = lanesAt();
  start(lanes, 'a');
  lanes.claimed('a', 'account');
  expect(lanes.acquireSlot('a', true)).toBe(true);
  const waiting = claim(lanes, 'a');
  expect(lanes.roomFor('a')).toBe(0);
  lanes.released('a');
  lanes.finished('a', true);
  expect(await waiting).toBe(true);
});

test('enabling an endpoint ends its pause, and its first event does not wait for an attempt in flight', () => {
  const { lanes } = lanesAt();
  start(lanes, 'a');
  lanes.finished('a', true);
  expect([lanes.enabled('a'), lanes.enabled('unknown')]).toEqual([false, false]);
  expect([lanes.standingOf('a'), lanes.roomFor('a')]).toEqual(['proven', 2]);
  start(lanes, 'a');
  start(lanes, 'a');
  lanes.finished('a', false);
  expect(lanes.roomFor('a')).toBe(0);
  expect(lanes.enabled('a')).toBe(true);
  expect([lanes.standingOf('a'), lanes.roomFor('a')]).toEqual(['untried', 1]);
  lanes.learn('a', 'proven');
  expect(lanes.standingOf('a')).toBe('proven');
  expect(lanes.finished('a', false)).toBe(250);
});

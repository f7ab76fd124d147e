import { expect, test } from 'vitest';
import { createAccountSlots } from './account-slots.ts';
import { createFairQueue } from './fair-queue.ts';
import { disabledReason, shouldDisable } from './health.ts';
import { createLanes, type Lanes } from './lanes.ts';

function lanesAt() {
  let nowMs = 1_000;
  return { lanes: createLanes(() => nowMs), wait: (ms: number) => (nowMs += ms) };
}

/** Returns how long the endpoint is paused. */
function send(lanes: Lanes, endpoint: string, account: string, ok = true): number {
  lanes.claimed(endpoint, account);
  expect(lanes.acquireSlot(endpoint)).toBe(true);
  return lanes.finished(endpoint, ok);
}

const busy = (lanes: Lanes, account: string) => [...lanes.busyOf(account)];

test('the endpoints of an account are listed under that account only, and only while they succeed', () => {
  const { lanes } = lanesAt();
  send(lanes, 'a1', 'a');
  send(lanes, 'a2', 'a');
  send(lanes, 'b1', 'b', false);
  expect([busy(lanes, 'a'), busy(lanes, 'b'), busy(lanes, 'c')]).toEqual([['a1', 'a2'], [], []]);
});

test('a forgotten idle endpoint is removed from its account, and is listed again only after a claim', () => {
  const { lanes, wait } = lanesAt();
  send(lanes, 'a1', 'a');
  send(lanes, 'b1', 'b');
  wait(59_000);
  send(lanes, 'a2', 'a');
  wait(1_000);
  lanes.forgetIdle();
  expect([busy(lanes, 'a'), busy(lanes, 'b')]).toEqual([['a1', 'a2'], ['b1']]);
  wait(1);
  lanes.forgetIdle();
  // The sender may read an endpoint's standing from the database later; that alone does not make it busy.
  for (const endpoint of ['a1', 'b1']) lanes.learn(endpoint, 'proven');
  expect([busy(lanes, 'a'), busy(lanes, 'b')]).toEqual([['a2'], []]);
  send(lanes, 'b1', 'b');
  expect(busy(lanes, 'b')).toEqual(['b1']);
});

test('a forgotten endpoint starts again with one delivery at a time and no standing', () => {
  const { lanes, wait } = lanesAt();
  for (let i = 0; i < 3; i++) send(lanes, 'a1', 'a');
  expect([lanes.roomFor('a1'), lanes.standingOf('a1')]).toEqual([8, 'proven']);
  wait(60_001);
  lanes.forgetIdle();
  expect([lanes.roomFor('a1'), lanes.standingOf('a1')]).toEqual([1, 'untried']);
});

test('a claim counts as use: an endpoint claimed just now is not forgotten when it is released', () => {
  const { lanes, wait } = lanesAt();
  send(lanes, 'a1', 'a');
  wait(60_001);
  lanes.claimed('a1', 'a');
  expect(lanes.acquireSlot('a1')).toBe(true);
  lanes.released('a1');
  lanes.forgetIdle();
  expect(lanes.standingOf('a1')).toBe('proven');
});

test('an endpoint with a known standing that was never used is forgotten like any other', () => {
  const { lanes, wait } = lanesAt();
  lanes.learn('a1', 'failing');
  wait(60_000);
  lanes.forgetIdle();
  expect(lanes.standingOf('a1')).toBe('failing');
  wait(1);
  lanes.forgetIdle();
  expect(lanes.standingOf('a1')).toBe('untried');
});

test('the first success after failures ends the pause and makes the next failure pause briefly again', () => {
  const { lanes, wait } = lanesAt();
  for (let i = 0; i < 3; i++) wait(send(lanes, 'a1', 'a', false));
  send(lanes, 'a1', 'a');
  expect(lanes.roomFor('a1')).toBe(2);
  expect(send(lanes, 'a1', 'a', false)).toBe(250);
});

test('a delivery beyond the concurrency waits until one in flight ends, first come first served', async () => {
  const { lanes } = lanesAt();
  send(lanes, 'a1', 'a'); // two at a time from here on
  const order: string[] = [];
  for (let i = 0; i < 4; i++) lanes.claimed('a1', 'a');
  expect([lanes.acquireSlot('a1'), lanes.acquireSlot('a1')]).toEqual([true, true]);
  const waiting = ['third', 'fourth'].map(async (name) => {
    const may = await lanes.acquireSlot('a1');
    order.push(`${name} ${may}`);
  });
  lanes.released('a1');
  await waiting[0];
  expect(order).toEqual(['third true']);
  lanes.released('a1');
  await waiting[1];
  expect(order).toEqual(['third true', 'fourth true']);
});

test('a lane has room for a claim only once a quarter of it is free', () => {
  const { lanes } = lanesAt();
  for (let i = 0; i < 3; i++) send(lanes, 'a1', 'a'); // eight at a time
  for (let i = 0; i < 6; i++) lanes.claimed('a1', 'a');
  expect(lanes.roomFor('a1')).toBe(2);
  lanes.claimed('a1', 'a');
  expect(lanes.roomFor('a1')).toBe(0);
});

test('without a given clock a lane uses the real one', () => {
  const lanes = createLanes();
  send(lanes, 'a1', 'a', false);
  expect(lanes.roomFor('a1')).toBe(0);
});

test('an account that leaves the queue and returns is served after the others', () => {
  const queue = createFairQueue();
  const allowAll = { mayTakeFor: () => true, hasRoom: () => true };
  queue.add({ endpointUuid: 'a1', accountUuid: 'a' });
  queue.add({ endpointUuid: 'b1', accountUuid: 'b' });
  queue.delete('a1');
  queue.delete('a1');
  queue.add({ endpointUuid: 'a2', accountUuid: 'a' });
  expect(queue.has('a2')).toBe(true);
  expect([queue.take(allowAll), queue.take(allowAll)]).toEqual([
    { endpointUuid: 'b1', accountUuid: 'b' },
    { endpointUuid: 'a2', accountUuid: 'a' },
  ]);
});

test('an account that may not take is skipped and keeps its position', () => {
  const queue = createFairQueue();
  queue.add({ endpointUuid: 'a1', accountUuid: 'a' });
  queue.add({ endpointUuid: 'b1', accountUuid: 'b' });
  expect(queue.take({ mayTakeFor: (id) => id === 'b', hasRoom: () => true })?.endpointUuid).toBe('b1');
  expect(queue.take({ mayTakeFor: () => true, hasRoom: () => true })?.endpointUuid).toBe('a1');
});

test('a postponed delivery frees its slot', () => {
  const { lanes, wait } = lanesAt();
  for (let i = 0; i < 2; i++) {
    lanes.claimed('a1', 'a');
    expect(lanes.acquireSlot('a1')).toBe(true);
    lanes.postponed('a1', 100);
    expect(lanes.roomFor('a1')).toBe(0);
    wait(100);
    expect(lanes.roomFor('a1')).toBe(1);
  }
});

test('an endpoint is disabled exactly at the end of its failure period, and the reason is a sentence even without a start', () => {
  const rule = { afterMs: 1_000, minFailures: 2 };
  const health = { failingSince: new Date(0), failureCount: 2 };
  expect([999, 1_000].map((ms) => shouldDisable(health, rule, new Date(ms)))).toEqual([false, true]);
  expect(disabledReason({ failingSince: null, failureCount: 2 }, null)).toMatch(
    /since an unknown time failed, the last with no response\./,
  );
});

test('released slots are available to all accounts again', () => {
  const slots = createAccountSlots(8);
  slots.acquire('a', 4);
  expect([slots.availableTo('a'), slots.availableTo('b')]).toEqual([0, 2]);
  slots.release('a', 1);
  expect([slots.availableTo('a'), slots.availableTo('b')]).toEqual([1, 3]);
  slots.release('a', 3);
  expect([slots.availableTo('a'), slots.availableTo('b')]).toEqual([4, 4]);
  expect(slots.availableTo('a', 9)).toBe(0);
});

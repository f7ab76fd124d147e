import { expect, test, vi } from 'vitest';
import type { Standing } from './lanes.ts';
import { createReadyEndpoints, createSlots } from './ready-endpoints.ts';

/** Endpoints named for their account, such as `a1`, with as much room as the test says. */
function createReady(concurrency = 64) {
  const standings = new Map<string, Standing>();
  const busy = new Set<string>();
  const woken: string[] = [];
  const slots = createSlots(concurrency);
  const ready = createReadyEndpoints({
    slots,
    lanes: {
      standingOf: (endpointUuid) => standings.get(endpointUuid) ?? 'untried',
      roomFor: (endpointUuid) => (standings.get(endpointUuid) === 'proven' ? 4 : 1),
    },
    claims: { mayClaim: (endpointUuid) => !busy.has(endpointUuid) },
    wake: {
      proven: () => woken.push('proven'),
      unproven: () => woken.push('unproven'),
      urgent: () => woken.push('urgent'),
    },
  });
  function add(standing: Standing, ...endpointUuids: string[]): void {
    for (const endpointUuid of endpointUuids) {
      standings.set(endpointUuid, standing);
      ready.add(endpointUuid, endpointUuid.slice(0, 1));
    }
  }
  const take = (queue: keyof typeof ready.take, count: number) =>
    ready.take[queue](count).map(({ endpointUuid, slots: taken }) => `${endpointUuid}:${taken}`);
  return { ready, add, take, busy, slots, woken };
}

test('proven endpoints take turns, each with as many slots as it has room for', () => {
  const { add, take } = createReady();
  add('proven', 'a1', 'b1', 'c1');
  expect(take('proven', 6)).toEqual(['a1:4', 'b1:2']);
  add('proven', 'a1');
  expect(take('proven', 9)).toEqual(['c1:4', 'a1:4']);
  expect(take('proven', 9)).toEqual([]);
});

test('an endpoint that is being claimed keeps its turn', () => {
  const { add, take, busy } = createReady();
  busy.add('a1').add('a2');
  add('proven', 'a1', 'b1');
  add('failing', 'a2');
  expect([take('proven', 9), take('unproven', 9)]).toEqual([['b1:4'], []]);
  busy.clear();
  expect([take('proven', 9), take('unproven', 9)]).toEqual([['a1:4'], ['a2:1']]);
});

test('untried and failing endpoints alternate', () => {
  const { add, take } = createReady();
  add('failing', 'a1', 'b1', 'c1');
  add('untried', 'd1', 'e1');
  expect(take('unproven', 9)).toEqual(['d1:1', 'a1:1', 'e1:1', 'b1:1', 'c1:1']);
});

test('failing endpoints leave the last quarter of the slots to untried ones', () => {
  const { add, take, slots } = createReady(16);
  const accounts = [...'abcdefgh'];
  add('failing', ...accounts.map((account) => `${account}1`));
  expect(slots.unproven.total).toBe(8);
  expect(take('unproven', 9)).toHaveLength(6);
  add('untried', ...accounts.map((account) => `${account}2`));
  expect(take('unproven', 9).length).toBeGreaterThan(0);
});

test('an endpoint is in the queue of its last standing, once', () => {
  const { ready, add, take } = createReady();
  add('failing', 'a1');
  add('proven', 'a1');
  expect([ready.unproven(), ready.hasProven()]).toEqual([[], true]);
  add('untried', 'a1');
  add('untried', 'a1');
  expect([ready.unproven(), ready.hasProven()]).toEqual([['a1'], false]);
  expect([take('proven', 9), take('unproven', 9), ready.has('a1')]).toEqual([[], ['a1:1'], false]);
});

test('an explicit retry has slots of its own; beyond their limit it waits for its endpoint’s turn', () => {
  const { ready, take, woken } = createReady();
  const urgent = (number: number) => ({
    accountUuid: 'a',
    endpointUuid: 'a1',
    deliveryUuid: `delivery ${number}`,
  });
  for (let number = 0; number < 100; number++) ready.addUrgent(urgent(number));
  expect([ready.has('a1'), ready.hasUrgent(), woken.length]).toEqual([false, true, 100]);
  ready.addUrgent(urgent(100));
  expect([ready.has('a1'), woken.length]).toEqual([true, 100]);
  expect(take('urgent', 1)).toEqual(['a1:1']);
});

test('a sender that stops takes nothing more', () => {
  const { ready, add, take } = createReady();
  add('proven', 'a1');
  add('failing', 'b1');
  ready.addUrgent({ accountUuid: 'c', endpointUuid: 'c1', deliveryUuid: 'delivery' });
  ready.close();
  expect([take('proven', 9), take('unproven', 9), take('urgent', 9)]).toEqual([[], [], []]);
});

test('a retry within ten seconds gets a timer; a later one is left to the scan', () => {
  vi.useFakeTimers();
  try {
    const { ready, woken } = createReady();
    ready.addLater('a1', 'a', 10_001);
    expect(vi.getTimerCount()).toBe(0);
    ready.addLater('a1', 'a', 10_000);
    vi.advanceTimersByTime(10_000);
    expect([ready.has('a1'), woken]).toEqual([true, ['unproven']]);
  } finally {
    vi.useRealTimers();
  }
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { createClaimer } from './claimer.ts';
import { createEndpointClaims } from './endpoint-claims.ts';
import type { Parts } from './parts.ts';
import { createSlots } from './ready-endpoints.ts';

type Deps = Parameters<typeof createClaimer>[0];

test.each(['proven', 'unproven', 'urgent'] as const)(
  'a sender that may be taken for dead takes nothing from the %s, and leaves them in their queue',
  async (queue) => {
    let isFresh = false;
    const asked: string[] = [];
    const take = (name: string) => () => {
      asked.push(name);
      return [];
    };
    const claimer = createClaimer({
      isFresh: () => isFresh,
      ready: { take: { proven: take('proven'), unproven: take('unproven'), urgent: take('urgent') } },
      due: { find: async () => {}, findLater: () => {} },
    } as unknown as Deps & Parts);
    expect([await claimer[queue](5), asked]).toEqual([[], []]);
    isFresh = true;
    expect([await claimer[queue](5), asked]).toEqual([[], [queue]]);
  },
);

test('unproven endpoints are claimed two at a time, however many slots are free', async () => {
  const counts: Record<string, number> = {};
  const take = (queue: string) => (count: number) => {
    counts[queue] = count;
    return [];
  };
  const claimer = createClaimer({
    isFresh: () => true,
    ready: { take: { proven: take('proven'), unproven: take('unproven') } },
    due: { find: async () => {}, findLater: () => {} },
  } as unknown as Deps & Parts);
  for (const queue of ['proven', 'unproven'] as const) await claimer[queue](64);
  expect(counts).toEqual({ proven: 64, unproven: 2 });
});

const uuid = '0190a5d0-0000-7000-8000-00000000000e';

test.each([
  ['fails', () => Promise.reject(new Error('no database')), 'no database'],
  ['finds nothing', () => Promise.resolve([]), []],
])('a claim that %s gives its slots back, and its endpoint is claimed again', async (_, query, outcome) => {
  for (const queue of ['proven', 'unproven', 'urgent'] as const) {
    const [slots, claims] = [createSlots(64), createEndpointClaims(() => 0)];
    const free = slots[queue].availableTo(uuid);
    slots[queue].acquire(uuid, 2);
    const take = () => [{ endpointUuid: uuid, accountUuid: uuid, slots: 2, deliveryUuids: [] }];
    const claimer = createClaimer({
      ...{ slots, claims, monotonicMs: () => 0, isFresh: () => true, clock: { nowMs: () => 0 } },
      ready: { take: { [queue]: take }, has: () => false, hasUrgent: () => false },
      due: { find: async () => {}, findLater: () => {} },
      wake: { unproven: () => {} },
      db: { query },
    } as unknown as Deps & Parts);
    expect(await claimer[queue](2).catch((error: Error) => error.message)).toEqual(outcome);
    expect([claims.mayClaim(uuid), slots[queue].availableTo(uuid)]).toEqual([true, free]);
  }
});

/** A claimer whose parts are made up, but for those that are given. Names what it wakes and adds, in order. */
function recording(parts: object) {
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  const wake = { proven: note('wake proven'), unproven: note('wake unproven'), urgent: note('wake urgent') };
  const claimer = createClaimer({
    ...{ claims: createEndpointClaims(() => 0), slots: createSlots(64), monotonicMs: () => 0, wake },
    ...{ isFresh: () => true, clock: { nowMs: () => 0 }, lanes: { claimed() {} }, holder: uuid, leaseMs: 1 },
    due: { find: async () => {}, findLater: note('find later') },
    ...parts,
    ready: {
      ...{ has: () => false, hasUrgent: () => false, add: note('add') },
      ...('ready' in parts ? (parts.ready as object) : {}),
    },
  } as unknown as Deps & Parts);
  return { claimer, done };
}

const chosen = { endpointUuid: uuid, accountUuid: uuid, slots: 1, deliveryUuids: [] };
const leaseRow = { endpoint_id: uuid, account_id: uuid, fence: 1, left_ms: 1, id: null };
const deliveryRow = { ...leaseRow, id: uuid, attempt_count: 1, body: '{}' };

test('an endpoint that gave as many deliveries as were asked for may have more; one that gave fewer has none', async () => {
  const take = { proven: () => [chosen] };
  const full = recording({ ready: { take }, db: { query: async () => [leaseRow, deliveryRow] } });
  expect([(await full.claimer.proven(1)).length, full.done]).toEqual([1, ['add']]);
  const empty = recording({ ready: { take }, db: { query: async () => [leaseRow] } });
  expect([await empty.claimer.proven(1), empty.done]).toEqual([[], []]);
});

test('what became ready during a claim is not left waiting', async () => {
  const take = { proven: () => [chosen] };
  const ready = { take, has: () => true, hasUrgent: () => true };
  const { claimer, done } = recording({ ready, db: { query: async () => [leaseRow] } });
  await claimer.proven(1);
  expect(done).toEqual(['wake proven', 'wake unproven', 'wake urgent']);
});

test('unproven endpoints are claimed one time after the other, every 50 ms, until none is left', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const left = [[chosen], [chosen], []];
  const { claimer, done } = recording({
    ready: { take: { unproven: () => left.shift() } },
    db: { query: async () => [leaseRow] },
  });
  await claimer.unproven(1);
  expect(done.splice(0)).toEqual(['wake unproven']);
  const second = claimer.unproven(1).then(() => 'claimed');
  const early = new Promise((resolve) => setTimeout(resolve, 20, 'waits'));
  expect([await Promise.race([second, early]), await second]).toEqual(['waits', 'claimed']);
  await claimer.unproven(1);
  expect(done).toEqual(['wake unproven', 'find later']);
});

test('after deliveries that were asked for by name, a claim finds what waited before them', async () => {
  const claims = createEndpointClaims(() => 0);
  const lookedFrom = vi.spyOn(claims, 'lookFrom');
  const named = { ...chosen, deliveryUuids: [uuid] };
  const ready = { take: { urgent: () => [named], proven: () => [chosen] } };
  for (const [queue, count] of [
    ['proven', 0],
    ['urgent', 1],
  ] as const) {
    await recording({ ready, claims, db: { query: async () => [leaseRow] } }).claimer[queue](1);
    expect(lookedFrom).toHaveBeenCalledTimes(count);
  }
});

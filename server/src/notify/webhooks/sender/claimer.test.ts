import { expect, test } from 'vitest';
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

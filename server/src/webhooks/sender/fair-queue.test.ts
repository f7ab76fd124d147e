import { expect, test } from 'vitest';
import { createAccountShares } from './account-shares.ts';
import { createFairQueue } from './fair-queue.ts';

const all = { mayTakeFor: () => true, hasRoom: () => true };

test('accounts take turns, however many endpoints each has; within an account it is first come, first served', () => {
  const queue = createFairQueue();
  for (const endpointUuid of ['a1', 'a2', 'a3']) queue.add({ endpointUuid, accountUuid: 'a' });
  queue.add({ endpointUuid: 'b1', accountUuid: 'b' });
  const order = Array.from({ length: 4 }, () => queue.take(all)?.endpointUuid);
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  expect(queue.take(all)).toBeNull();
});

test('who may not be taken now stays, and keeps nobody else from it', () => {
  const queue = createFairQueue();
  for (const endpointUuid of ['a1', 'a2']) queue.add({ endpointUuid, accountUuid: 'a' });
  queue.add({ endpointUuid: 'b1', accountUuid: 'b' });
  expect(queue.take({ ...all, hasRoom: (id) => id !== 'a1' })?.endpointUuid).toBe('a2');
  expect(queue.take({ ...all, mayTakeFor: (id) => id === 'b' })?.endpointUuid).toBe('b1');
  expect([...queue.endpoints()]).toEqual(['a1']);
});

test('one that is added twice is there once, and gone when it is deleted', () => {
  const queue = createFairQueue();
  for (let i = 0; i < 2; i++) queue.add({ endpointUuid: 'a1', accountUuid: 'a' });
  expect(queue.take(all)?.endpointUuid).toBe('a1');
  queue.add({ endpointUuid: 'a1', accountUuid: 'a' });
  queue.delete('a1');
  expect([queue.has('a1'), queue.take(all)]).toEqual([false, null]);
});

/** How many places each of these accounts gets, taking at most `step` one after the other for as long as anyone may. */
function fill(places: number, accounts: string[], { reserved = 0, step = 1 } = {}) {
  const shares = createAccountShares(places);
  const got = new Map(accounts.map((account) => [account, 0]));
  for (let isGoing = true; isGoing; ) {
    isGoing = false;
    for (const account of accounts) {
      const count = Math.min(step, shares.roomFor(account, reserved));
      if (count === 0) continue;
      shares.taken(account, count);
      got.set(account, (got.get(account) ?? 0) + count);
      isGoing = true;
    }
  }
  return { shares, got: [...got.values()] };
}

test('an account alone gets half of the places, two a third each, and a place is left for the next', () => {
  expect(fill(512, ['a']).got).toEqual([256]);
  const { shares, got } = fill(512, ['a', 'b']);
  expect(got).toEqual([171, 171]);
  expect(shares.roomFor('c')).toBeGreaterThan(0);
  expect(fill(1, ['a']).got).toEqual([1]);
});

test('many places taken at once are no more than one by one', () => {
  expect(fill(512, ['a'], { step: 128 }).got).toEqual([256]);
  const { shares } = fill(512, ['a', 'b', 'c'], { step: 128 });
  expect(shares.roomFor('d')).toBeGreaterThan(0);
});

test('places that are reserved are left, however many accounts want them', () => {
  const accounts = Array.from({ length: 900 }, (_, i) => String(i));
  const { shares, got } = fill(512, accounts, { reserved: 128 });
  expect(got.reduce((sum, one) => sum + one)).toBe(384);
  expect(shares.roomFor('new', 128)).toBe(0);
  expect(shares.roomFor('new')).toBeGreaterThan(0);
  shares.freed('0', 1);
  expect(shares.roomFor('new', 128)).toBe(1);
});

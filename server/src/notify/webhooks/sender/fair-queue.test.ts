import { expect, test } from 'vitest';
import { createAccountSlots } from './account-slots.ts';
import { createFairQueue } from './fair-queue.ts';

const allowAll = { mayTakeFor: () => true, hasRoom: () => true };

test('accounts take turns, however many endpoints each has; within an account the order is first in, first out', () => {
  const queue = createFairQueue();
  for (const endpointUuid of ['a1', 'a2', 'a3']) queue.add({ endpointUuid, accountUuid: 'a' });
  queue.add({ endpointUuid: 'b1', accountUuid: 'b' });
  const order = Array.from({ length: 4 }, () => queue.take(allowAll)?.endpointUuid);
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  expect(queue.take(allowAll)).toBeNull();
});

test('an endpoint the rules hold back stays queued and does not block others', () => {
  const queue = createFairQueue();
  for (const endpointUuid of ['a1', 'a2']) queue.add({ endpointUuid, accountUuid: 'a' });
  queue.add({ endpointUuid: 'b1', accountUuid: 'b' });
  expect(queue.take({ ...allowAll, hasRoom: (id) => id !== 'a1' })?.endpointUuid).toBe('a2');
  expect(queue.take({ ...allowAll, mayTakeFor: (id) => id === 'b' })?.endpointUuid).toBe('b1');
  expect([...queue.endpoints()]).toEqual(['a1']);
});

test('an endpoint added twice is queued once, and delete removes it', () => {
  const queue = createFairQueue();
  for (let i = 0; i < 2; i++) queue.add({ endpointUuid: 'a1', accountUuid: 'a' });
  expect(queue.take(allowAll)?.endpointUuid).toBe('a1');
  queue.add({ endpointUuid: 'a1', accountUuid: 'a' });
  queue.delete('a1');
  expect([queue.has('a1'), queue.take(allowAll)]).toEqual([false, null]);
});

/** Lets the accounts take up to `step` slots in turn until none may take more; returns how many each got. */
function fill(total: number, accounts: string[], { reserved = 0, step = 1 } = {}) {
  const slots = createAccountSlots(total);
  const got = new Map(accounts.map((account) => [account, 0]));
  for (let isFilling = true; isFilling; ) {
    isFilling = false;
    for (const account of accounts) {
      const count = Math.min(step, slots.availableTo(account, reserved));
      if (count === 0) continue;
      slots.acquire(account, count);
      got.set(account, (got.get(account) ?? 0) + count);
      isFilling = true;
    }
  }
  return { slots, got: [...got.values()] };
}

test('one account gets half of the slots, two get a third each, and some remain for the next account', () => {
  expect(fill(512, ['a']).got).toEqual([256]);
  const { slots, got } = fill(512, ['a', 'b']);
  expect(got).toEqual([171, 171]);
  expect(slots.availableTo('c')).toBeGreaterThan(0);
  expect(fill(1, ['a']).got).toEqual([1]);
});

test('taking many slots at once yields no more than taking them one by one', () => {
  expect(fill(512, ['a'], { step: 128 }).got).toEqual([256]);
  const { slots } = fill(512, ['a', 'b', 'c'], { step: 128 });
  expect(slots.availableTo('d')).toBeGreaterThan(0);
});

test('reserved slots stay free, however many accounts want them', () => {
  const accounts = Array.from({ length: 900 }, (_, i) => String(i));
  const { slots, got } = fill(512, accounts, { reserved: 128 });
  expect(got.reduce((sum, one) => sum + one)).toBe(384);
  expect(slots.availableTo('new', 128)).toBe(0);
  expect(slots.availableTo('new')).toBeGreaterThan(0);
  slots.release('0', 1);
  expect(slots.availableTo('new', 128)).toBe(1);
});

import { expect, test } from 'vitest';
import { createAccountSlots } from './account-slots.ts';
import { createUrgentDeliveries } from './urgent-deliveries.ts';

function urgentOf(accountUuid: string, number: number) {
  return { accountUuid, endpointUuid: `${accountUuid}-endpoint`, deliveryUuid: `${accountUuid}-${number}` };
}

test('one account’s explicit retries never take the place of another’s', () => {
  const urgent = createUrgentDeliveries(createAccountSlots(64), () => true);
  for (let number = 0; number < 5_000; number++) urgent.add(urgentOf('script', number));
  expect(urgent.add(urgentOf('other', 1))).toBe(true);
  const taken = urgent.take(64);
  expect(taken.find(({ accountUuid }) => accountUuid === 'other')?.deliveryUuids).toEqual(['other-1']);
});

test('a delivery counts until it is taken, and once however often it is retried', () => {
  const urgent = createUrgentDeliveries(createAccountSlots(1_000), () => true);
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 300; n++) expect(urgent.add(urgentOf('one', n % 100))).toBe(true);
    expect(urgent.add(urgentOf('one', 100))).toBe(false);
    let count = 0;
    while (!urgent.isEmpty()) count += urgent.take(10).reduce((sum, { slots }) => sum + slots, 0);
    expect(count).toBe(100);
  }
});

test('all accounts together have at most 1,000 explicit retries waiting', () => {
  const urgent = createUrgentDeliveries(createAccountSlots(64), () => true);
  for (let n = 0; n < 1_000; n++) expect(urgent.add(urgentOf(`account-${n % 10}`, n))).toBe(true);
  expect(urgent.add(urgentOf('other', 1))).toBe(false);
});

test('an explicit retry waits while its endpoint is being claimed', () => {
  let isClaiming = true;
  const mayClaim = (endpointUuid: string) => !(isClaiming && endpointUuid === 'one-endpoint');
  const urgent = createUrgentDeliveries(createAccountSlots(64), mayClaim);
  for (const account of ['one', 'other']) urgent.add(urgentOf(account, 1));
  const take = () => urgent.take(64).map(({ endpointUuid }) => endpointUuid);
  expect(take()).toEqual(['other-endpoint']);
  isClaiming = false;
  expect([take(), urgent.isEmpty()]).toEqual([['one-endpoint'], true]);
});

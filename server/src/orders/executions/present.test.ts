import { heldProduct } from '@simplane/contract';
import { expect, test } from 'vitest';
import { describeWaiting, presentNew } from './present.ts';

const createdAt = new Date('2026-01-01T00:00:00Z');
const order = { type: 'esim.provision', iccid: null, createdAt } as const;

test('the answer to an order says when it starts, and why later if it is held', () => {
  const created = createdAt.getTime() / 1_000;
  expect(presentNew('exec_1', { ...order, productId: 'p' })).toMatchObject({
    ...{ status: 'queued', attempts: 0, created, next_attempt_at: created, reference: null },
    waiting_for: expect.stringMatching(/^It was accepted/),
  });
  expect(presentNew('exec_1', { ...order, productId: heldProduct.id })).toMatchObject({
    ...{ created, next_attempt_at: created + heldProduct.seconds },
    waiting_for: expect.stringContaining(`waits ${heldProduct.seconds} seconds`),
  });
});

test('the answer to an order has its price if it is known', () => {
  const price = { amount: 5, currency: 'eur' } as const;
  expect(presentNew('exec_1', { ...order, productId: 'p', price })).toMatchObject({ price });
  expect(presentNew('exec_1', { ...order, productId: 'p' })).not.toHaveProperty('price');
});

test('each cause is told with what its account can do, and with what its operator can', () => {
  const causes = ['worker', 'held', 'takeover', 'network', 'core', 'internal'];
  const told = causes.map((cause) => describeWaiting(cause));
  expect(new Set(told).size).toBe(causes.length);
  for (const cause of causes) {
    expect(describeWaiting(cause)).not.toContain('doctor');
    expect(describeWaiting(cause, true)).toMatch(/`simplane-server doctor` says what to fix\.$/);
  }
  expect(describeWaiting('of a newer release')).toBe(describeWaiting('worker'));
});

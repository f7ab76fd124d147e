import { expect, test } from 'vitest';
import { describePlan, makePlan } from '../dist/plan.js';

test('the same seed gives the same plan, and a different seed a different one', () => {
  expect(makePlan(7, 5)).toEqual(makePlan(7, 5));
  expect(describePlan(makePlan(7, 5))).toBe(describePlan(makePlan(7, 5)));
  expect(describePlan(makePlan(8, 5))).not.toBe(describePlan(makePlan(7, 5)));
});

test('a longer plan starts with the same operations as a shorter one of the same seed', () => {
  const [short, long] = [makePlan(7, 2), makePlan(7, 4)];
  for (const [index, { operations }] of short.customers.entries()) {
    expect(long.customers[index]?.operations.slice(0, operations.length)).toEqual(operations);
  }
});

import { expect, test } from 'vitest';
import { isOf } from './asked-cells.ts';

const eu = { cell: 'eu', answered: true as const };
const us = { cell: 'us', answered: true as const };

test('an answer counts as that of a cell only if it is of this cell alone: another would be counted twice', () => {
  expect(isOf('eu', { cells: [eu] })).toBe(true);
  expect(isOf('eu', { cells: [eu, us] })).toBe(false);
  expect(isOf('eu', { cells: [us] })).toBe(false);
  expect(isOf('eu', { cells: [] })).toBe(false);
  expect(isOf('eu', {})).toBe(false);
});

import { expect, test } from 'vitest';
import { cutToWidth, displayWidth } from './display-width.ts';
import { fitColumns } from './fit-columns.ts';

const columns = [{}, { isSecondary: true }, { cutTo: 4 }, {}];
const natural = [10, 6, 12, 8];

test('a table that is too wide is cut, then loses its secondary columns, then others from the right, but never the first', () => {
  expect(fitColumns(columns, natural, 42)).toEqual(natural);
  expect(fitColumns(columns, natural, 34)).toEqual([10, 6, 4, 8]);
  expect(fitColumns(columns, natural, 33)).toEqual([10, null, 11, 8]);
  expect(fitColumns(columns, natural, 25)).toEqual([10, null, 12, null]);
  expect(fitColumns(columns, natural, 5)).toEqual([10, null, null, null]);
});

test('the widest cells are cut first', () => {
  const both = [{ cutTo: 4 }, { cutTo: 4 }];
  expect(fitColumns(both, [10, 20], 24)).toEqual([10, 12]);
  expect(fitColumns(both, [10, 20], 18)).toEqual([8, 8]);
});

test('a cut text takes as many cells as it may, whatever its characters take', () => {
  expect(['e\u0301a', '東京', 'a\u200db', '😀'].map(displayWidth)).toEqual([2, 4, 2, 2]);
  expect([cutToWidth('東京都', 6), cutToWidth('東京都', 5), cutToWidth('東京都', 4)]).toEqual([
    ...['東京都', '東京…', '東…'],
  ]);
  expect(cutToWidth('abcdef', 4)).toBe('abc…');
});

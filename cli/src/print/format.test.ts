import { expect, test } from 'vitest';
import { bytes, duration, firstFew, paintStatus, price, time } from './format.ts';
import type { Colors } from './output.ts';

test.each([
  ['eur', '€9.00'],
  ['jpy', '¥900'],
  ['kwd', 'KWD\u00a00.900'],
])('a price in %s has as many decimals as its currency', (currency, text) => {
  expect(price({ amount: 900, currency })).toBe(text);
});

test('amounts and durations are told in the largest unit that they fill', () => {
  expect([0, 999, 1_000, 1_500_000, 1e9, 2e15, null].map(bytes)).toEqual([
    ...['0 B', '999 B', '1 kB', '1.5 MB', '1 GB', '2000 TB', 'unlimited'],
  ]);
  expect([0, 840, 1_000, 2_440, 60_000, 5_400_000, 172_800_000].map(duration)).toEqual([
    ...['0 ms', '840 ms', '1 s', '2.4 s', '1 min', '1.5 h', '2 d'],
  ]);
});

test('times have the same length, and none is a dash', () => {
  const at = new Date(2026, 0, 2, 3, 4, 5).getTime() / 1_000;
  expect([time(at), time(null), time(undefined), time(0).length]).toEqual([
    '2026-01-02 03:04:05',
    '–',
    '–',
    19,
  ]);
});

test('a number stands for two words or more, not for one', () => {
  expect([firstFew(['A', 'B', 'C'], 2), firstFew(['A', 'B', 'C', 'D'], 2)]).toEqual(['A B C', 'A B +2']);
});

test('a status has its color also in a column, and other text none', () => {
  const colors = { green: (text: string) => `<${text}>` } as unknown as Colors;
  expect([paintStatus('active  ', colors), paintStatus('unheard-of', colors)]).toEqual([
    '<active  >',
    'unheard-of',
  ]);
  for (const text of ['constructor', 'toString', '__proto__']) expect(paintStatus(text, colors)).toBe(text);
});

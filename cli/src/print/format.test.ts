import { expect, test } from 'vitest';
import { price } from './format.ts';

test.each([
  ['eur', '€9.00'],
  ['jpy', '¥900'],
  ['kwd', 'KWD\u00a00.900'],
])('a price in %s has as many decimals as its currency', (currency, text) => {
  expect(price({ amount: 900, currency })).toBe(text);
});

import { withCheckDigit } from '@simplane/contract';
import luhn from 'luhn';
import { expect, test } from 'vitest';
import { parseIccidRanges } from './iccid-ranges.ts';

test.each([
  ['8988303', [{ first: '898830300000000000', size: 10 ** 11 }]],
  ['8988303000012', [{ first: '898830300001200000', size: 100_000 }]],
  ['8988303000000000002-8988303000000000093', [{ first: '898830300000000000', size: 10 }]],
  [
    '8988303000012, 8988304',
    [
      { first: '898830300001200000', size: 100_000 },
      { first: '898830400000000000', size: 10 ** 11 },
    ],
  ],
  // In the order given, in which they are used.
  [
    '8988304,8988303',
    [
      { first: '898830400000000000', size: 10 ** 11 },
      { first: '898830300000000000', size: 10 ** 11 },
    ],
  ],
  [
    '8988303000000000002-8988303000000000093,8988303000000000101-8988303000000000192',
    [
      { first: '898830300000000000', size: 10 },
      { first: '898830300000000010', size: 10 },
    ],
  ],
])('"%s" is parsed', (text, ranges) => {
  expect(parseIccidRanges(text)).toEqual(ranges);
});

test.each([
  '',
  '8933',
  '1234567',
  '8988303000012345', // leaves only two digits for the serial
  '8988303000000000003-8988303000000000093', // wrong check digit
  '8988303000000000002-8988303000000000094', // wrong check digit at the end
  '8988303000000000093-8988303000000000002', // backwards
  '898830300000000000-898830300000000009',
  '8988303,8988303000012', // one within the other
  '8988303000000000002-8988303000000000093,8988303000000000093-8988303000000000192', // one number in both
  '8988303,',
  // more numbers than can be counted exactly
  `${withCheckDigit('890000000000000000')}-${withCheckDigit('899999999999999999')}`,
])('"%s" is rejected', (text) => {
  expect(parseIccidRanges(text)).toBeUndefined();
});

test('check digits agree with the luhn package', () => {
  for (let serial = 0; serial < 500; serial++) {
    const iccid = withCheckDigit(`8988303${String(serial * 7_919).padStart(11, '0')}`);
    expect(luhn.validate(iccid), iccid).toBe(true);
  }
});

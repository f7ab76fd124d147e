import { expect, test } from 'vitest';
import { isoTime, table } from './print.ts';

test('a table has a column for each field, as wide as its widest cell, and a dash for what there is not', () => {
  const rows = [
    { id: 'a', count: 12_345, note: null, last: true },
    { id: 'longer', count: 0, note: 'x', last: false },
  ];
  expect(table(rows)).toBe(
    ['ID      COUNT  NOTE  LAST', 'a       12345  -     true', 'longer  0      x     false', ''].join('\n'),
  );
  expect(table([{ id: 'a', note: '' }])).toBe('ID  NOTE\na\n');
  expect(table([])).toBe('(none)\n');
});

test('a time is told in UTC, and one that there is not, is not', () => {
  expect([isoTime(0), isoTime(1_800_000_000), isoTime(null)]).toEqual([
    ...['1970-01-01T00:00:00.000Z', '2027-01-15T08:00:00.000Z', null],
  ]);
});

import { expect, test } from 'vitest';
import { bigints, timestamps } from './binary-array.ts';
import { column, numberedRowsOf, rowsOf } from './rows.ts';

type Point = { id: string; name: string | null; size: number };

const columns = {
  id: column.uuid((point: Point) => point.id),
  name: column.text((point: Point) => point.name),
  size: column.integer((point: Point) => point.size),
};

test('rows become one typed array per column, numbered from the first free parameter', () => {
  const given = rowsOf(columns, 3);
  expect(given.table).toBe(
    '(select * from unnest((select $3::uuid[]), $4::text[], $5::integer[]) with ordinality as row (id, name, size, n))',
  );
  expect(given.next).toBe(6);
  const id = '0190a5d0-0000-7000-8000-000000000001';
  const values = given.values([
    { id, name: null, size: 1 },
    { id, name: 'b', size: 2 },
  ]);
  expect(values).toHaveLength(3);
  for (const array of values) expect((array as Buffer).readInt32BE(12)).toBe(2);
});

test('numbered rows are read by their position, which a column of the statement has', () => {
  const points = numberedRowsOf(columns, 4);
  expect(points.of('point', 'name')).toBe('($5::text[])[point]');
  expect(points.values([{ id: '0190a5d0-0000-7000-8000-000000000001', name: 'a', size: 1 }])).toHaveLength(3);
});

test('numbers and times are exact in PostgreSQL’s format, also below zero and before its year 2000', () => {
  const numbers = [0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 40 + 7, -(2 ** 40) - 7, Number.MAX_SAFE_INTEGER];
  const elementsOf = (array: Buffer, count: number) =>
    Array.from({ length: count }, (_, n) => Number(array.readBigInt64BE(20 + n * 12 + 4)));
  expect(elementsOf(bigints(numbers), numbers.length)).toEqual(numbers);
  const times = ['2000-01-01T00:00:00Z', '1999-12-31T23:59:59.999Z', '2031-07-01T12:00:00.123Z'].map(
    (text) => new Date(text),
  );
  const sinceMs = times.map((time) => time.getTime() - Date.UTC(2000, 0, 1));
  expect(elementsOf(timestamps(times), times.length)).toEqual(sinceMs.map((ms) => ms * 1_000));
});

import { expect, test } from 'vitest';
import { readCatalog } from './import-catalog.ts';

const product = {
  id: 'acme',
  name: 'Acme',
  countries: ['DE'],
  data_bytes: 5_000_000_000,
  validity_days: 30,
  price: { amount: 999, currency: 'eur' },
  speeds: ['4G'],
};

test.each([
  ['no products', [], { row: 0, id: null, problem: 'the file has no products' }],
  [
    'a name with a zero byte',
    [product, { ...product, id: 'zero', name: 'A\u0000' }],
    { row: 2, id: 'zero', problem: 'name contains U+0000' },
  ],
  [
    'a product throttled without a speed',
    [{ ...product, after_depletion: { action: 'throttle' } }],
    { row: 1, id: 'acme', problem: 'after_depletion needs kbps to throttle' },
  ],
])('a catalog with %s is refused, and the row is named', (_, rows, problem) => {
  expect(readCatalog(JSON.stringify(rows))).toEqual({ problems: [problem] });
});

test('only a product that can be ordered needs a profile type, where the SM-DP+ chooses the ICCIDs', () => {
  const rows = [
    { ...product, id: 'typed', profile_type: 'ACME' },
    { ...product, id: 'withdrawn', active: false },
    { ...product, id: 'untyped' },
    { ...product, id: 'null', profile_type: null },
  ];
  const needs = readCatalog(JSON.stringify(rows), { needsProfileTypes: true });
  expect(needs).toMatchObject({ problems: [{ row: 3 }, { row: 4 }] });
  expect(readCatalog(JSON.stringify(rows))).toMatchObject({ products: [{}, {}, {}, {}] });
});

test('the problems of a catalog are listed in the order of its rows, those of one row together', () => {
  const typed = { ...product, profile_type: 'ACME' };
  const rows = [typed, product, { ...typed, id: 'odd', colour: 'red' }];
  const read = readCatalog(JSON.stringify(rows), { needsProfileTypes: true });
  expect(read).toMatchObject({ problems: [{ row: 2 }, { row: 2 }, { row: 3 }] });
});

test('a value that is not one of a few is refused with those that are', () => {
  const rows = [{ ...product, after_depletion: { action: 'stop' } }];
  const [first] = (readCatalog(JSON.stringify(rows)) as { problems: { problem: string }[] }).problems;
  expect(first?.problem).toMatch(/^after_depletion\.action must be .*: bar, .*throttle/);
});

import type { Product } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { byFit } from '../src/parts/by-fit.ts';
import { toCsv } from '../src/parts/csv.ts';
import { price } from '../src/parts/format.ts';
import { nearest } from '../src/parts/nearest.ts';
import { forOperator } from '../src/screens/operator/for-operator.ts';

test('a row of CSV has a column per field, also of what is inside, and times that a spreadsheet reads', () => {
  const rows = [
    {
      id: 'exec_1',
      object: 'execution',
      created: 1_700_000_000,
      metadata: { order: 'A-1, "x"' },
      error: null,
    },
    { id: 'exec_2', object: 'execution', error: { code: 'declined' }, scopes: ['read', 'write'] },
  ];
  expect(toCsv(rows).split('\r\n')).toEqual([
    'id,created,metadata.order,error,error.code,scopes',
    'exec_1,2023-11-14T22:13:20.000Z,"A-1, ""x""",,,',
    'exec_2,,,,declined,read write',
    '',
  ]);
});

test.each(['=HYPERLINK("http://evil")', '+1', '-1', '@SUM(A1)', '\t=1'])(
  'a text that a spreadsheet would run is only shown: %s',
  (text) => {
    const [, cell = ''] = toCsv([{ text }]).split('\r\n');
    expect(cell.replace(/^"/, '').startsWith("'")).toBe(true);
  },
);

test('a typo finds the type that was meant, a known type and a stranger find none', () => {
  const names = ['esim.provisioned', 'esim.activated', 'bundle.depleted', 'esim.*'];
  expect(nearest('esim.provisoned', names)).toBe('esim.provisioned');
  expect(nearest('esims.*', names)).toBe('esim.*');
  expect(nearest('esim.activated', names)).toBeNull();
  expect(nearest('test.anything.else', names)).toBeNull();
});

test('a top-up offers first what works in all countries of the eSIM, the cheapest at the top', () => {
  const product = (id: string, countries: string[], amount: number) =>
    ({ id, countries, price: { amount, currency: 'eur' } }) as Product;
  const products = [
    product('global', ['FR', 'DE', 'US'], 2_000),
    product('europe', ['FR', 'DE'], 900),
    product('france', ['FR'], 400),
  ];
  const { fitting, others } = byFit(products, 'europe');
  expect(fitting.map(({ id }) => id)).toEqual(['europe', 'global']);
  expect(others.map(({ id }) => id)).toEqual(['france']);
  expect(byFit(products, 'unlisted').fitting).toEqual([]);
});

test('an operator is not told to ask the operator, and loses no other word', () => {
  expect(forOperator('The network refuses it; ask the operator to allow it.')).toBe(
    'The network refuses it.',
  );
  expect(forOperator('It waits. If it still waits, tell the operator.')).toBe('It waits.');
  expect(forOperator('Ask the operator.')).toBe('Ask the operator.');
  expect(forOperator('HTTP 503. Retry it.')).toBe('HTTP 503. Retry it.');
});

test('a price has as many decimals as its currency', () => {
  expect(price({ amount: 900, currency: 'eur' })).toBe('9.00 EUR');
  expect(price({ amount: 900, currency: 'jpy' })).toBe('900 JPY');
});

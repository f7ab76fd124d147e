import type { Product } from '@simplane/sdk';
import type { Command } from 'commander';
import { withAction } from '../action.ts';
import { bytes, few, price } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import { type Column, printThing } from '../print/table.ts';

const columns: Column<Product>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'DATA', of: ({ data_bytes }) => bytes(data_bytes), isRight: true },
  { title: 'DAYS', of: ({ validity_days }) => String(validity_days), isRight: true },
  { title: 'PRICE', of: (product) => price(product.price), isRight: true },
  { title: 'COUNTRIES', of: ({ countries }) => few(countries) },
];

export function addProducts(program: Command): void {
  const products = program.command('products').description('what can be ordered');

  const list = withListOptions(products.command('list').description('list the catalog'));
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options) =>
    printList(out, options, (query) => client.products.list(query), {
      columns,
      empty: 'The catalog is empty. Operators fill it with `simplane-server catalog import`.',
    }),
  );

  const get = products.command('get').description('show one product').argument('<id>', 'the product’s id');
  withAction(get, async ({ client, out }, _, [id = '']) => {
    const product = await client.products.get(id);
    printThing(out, product, [
      ['ID', product.id],
      ['Name', product.name],
      ['Data', bytes(product.data_bytes)],
      ['Valid for', `${product.validity_days} days from the first attach`],
      ['Price', price(product.price)],
      ['Speeds', product.speeds.join(', ')],
      ['Countries', product.countries.join(' ')],
      ['Can be ordered', product.active ? 'yes' : 'no'],
    ]);
  });
}

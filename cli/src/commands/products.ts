import type { Product } from '@simplane/sdk';
import type { Command } from 'commander';
import { withAction } from '../action.ts';
import { bytes, firstFew, price } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import { type Column, printResource } from '../print/table.ts';

const columns: Column<Product>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, cutTo: 12 },
  { title: 'DATA', value: ({ data_bytes }) => bytes(data_bytes), isRight: true },
  { title: 'DAYS', value: ({ validity_days }) => String(validity_days), isRight: true },
  { title: 'PRICE', value: (product) => price(product.price), isRight: true },
  { title: 'COUNTRIES', value: ({ countries }) => firstFew(countries), cutTo: 9 },
];

export function addProducts(program: Command): void {
  const products = program.command('products').description('the product catalog');

  const list = withListOptions(products.command('list').description('list products'));
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options) =>
    printList(out, options, (query) => client.products.list(query), {
      columns,
      empty: 'The catalog is empty. The operator adds products with `simplane-server catalog import`.',
    }),
  );

  const get = products.command('get').description('show one product').argument('<id>', 'product id');
  withAction(get, async ({ client, out }, _, [id = '']) => {
    const product = await client.products.get(id);
    printResource(out, product, [
      ['ID', product.id],
      ['Name', product.name],
      ['Data', bytes(product.data_bytes)],
      ['Valid for', `${product.validity_days} days from the activation of the bundle`],
      ['Price', price(product.price)],
      ['Speeds', product.speeds.join(', ')],
      ['Countries', product.countries.join(' ')],
      ['Can be ordered', product.active ? 'yes' : 'no'],
    ]);
  });
}

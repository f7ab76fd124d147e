import type { DryRun } from '@simplane/sdk';
import { none } from './format.ts';
import type { Output } from './output.ts';
import { printResource } from './table.ts';

/** Prints what an order would do. */
export function printDryRun(out: Output, dryRun: DryRun): void {
  const { total, products, in_stock: inStock } = dryRun;
  const several = (quantity: number) => (total === 1 ? '' : `${quantity} × `);
  printResource(out, dryRun, [
    ['Would accept', `${total} ${total === 1 ? 'order' : 'orders'}`],
    ...products.map(({ product_id: id, quantity, price }) => {
      const amount = `${price.amount} ${price.currency} (minor units) each`;
      return ['Product', `${several(quantity)}${id}, ${amount}`] as const;
    }),
    ['In stock', inStock === null ? none : inStock ? 'yes' : 'no: some would fail with out_of_stock'],
  ]);
  out.note(out.noteColors.dim('Nothing was ordered. Leave out --dry-run to order.'));
}

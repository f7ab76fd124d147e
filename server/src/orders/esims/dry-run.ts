import type { DryRun } from '@simplane/contract';
import { priceOf } from '../../accounts/products/present.ts';
import type { ProductRow } from '../../accounts/products/require-active.ts';
import type { Reply } from '../../accounts/write.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { countFreeIccids } from './list-iccid-ranges.ts';

type Ordered = { product: ProductRow; quantity: number };

/** The answer to a dry run whose checks have passed: eSIMs that would be ordered. */
export async function wouldProvision(db: Queryable, ordered: readonly Ordered[]): Promise<Reply<DryRun>> {
  const total = ordered.reduce((sum, { quantity }) => sum + quantity, 0);
  const free = await countFreeIccids(db);
  return wouldAccept({
    type: 'esim.provision',
    iccid: null,
    total,
    products: ordered.map(({ product, quantity }) => ({
      product_id: product.id,
      quantity,
      price: priceOf(product),
    })),
    in_stock: free === null ? null : free >= total,
  });
}

/** The answer to a dry run whose checks have passed. It leaves no audit entry. */
export function wouldAccept(accepted: Omit<DryRun, 'object'>): Reply<DryRun> {
  return { body: { object: 'dry_run', ...accepted }, status: 200, changes: null };
}

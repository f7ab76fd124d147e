import { noSuch } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { recordAudit } from '../audit/record.ts';
import type { OperatorContext } from '../context.ts';
import { presentCatalogProduct } from './present.ts';
import { type CatalogRow, lockProducts, setInactive } from './sql.ts';

export async function deactivateProduct(
  tx: Queryable,
  ctx: OperatorContext,
  { params: { id } }: { params: { id: string } },
) {
  return { body: presentCatalogProduct(await deactivate(tx, ctx, id)), changes: null };
}

/** Stops selling a product. Orders that were accepted go on. An inactive product stays as it is. */
export async function deactivate(
  tx: Queryable,
  author: Parameters<typeof recordAudit>[1],
  id: string,
): Promise<CatalogRow> {
  const [product] = await lockProducts(tx, [id]);
  if (!product) throw noSuch('product', id);
  await setInactive(tx, id);
  await recordAudit(tx, author, {
    accountUuid: null,
    action: 'product.deactivated',
    target: { type: 'product', id },
    changes: product.active ? { active: { from: true, to: false } } : {},
  });
  return { ...product, active: false };
}

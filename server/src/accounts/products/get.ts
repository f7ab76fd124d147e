import type { CatalogProduct, Product } from '@simplane/contract';
import { noSuch } from '../../platform/app-error.ts';
import type { Context, OperatorContext } from '../context.ts';
import { presentCatalogProduct, presentProduct } from './present.ts';
import { findCatalogProduct, findProduct } from './sql.ts';

export async function getProduct(ctx: Context, { params }: { params: { id: string } }): Promise<Product> {
  const row = await findProduct(ctx.db, params.id);
  if (!row) throw noSuch('product', params.id);
  return presentProduct(row);
}

/** With what only the operator sees. */
export async function getCatalogProduct(
  { db }: OperatorContext,
  { params }: { params: { id: string } },
): Promise<CatalogProduct> {
  const row = await findCatalogProduct(db, params.id);
  if (!row) throw noSuch('product', params.id);
  return presentCatalogProduct(row);
}

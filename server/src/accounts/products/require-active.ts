import { AppError, conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { clip } from '../../platform/telemetry/clip.ts';
import { findProduct, type ProductRow } from './sql.ts';

export { listProductsByIds, type ProductRow } from './sql.ts';

/** Throws unless the product exists and can be ordered. */
export async function requireActiveProduct(db: Queryable, productId: string): Promise<ProductRow> {
  const product = await requireProduct(db, productId);
  if (!product.active) throw productInactive(productId);
  return product;
}

/** Does not require an active product: an accepted order is fulfilled even if the product is no longer sold. */
export async function requireProduct(db: Queryable, productId: string): Promise<ProductRow> {
  const product = await findProduct(db, productId);
  if (!product) throw productMissing(productId);
  return product;
}

export function productMissing(productId: string, param = 'product_id'): AppError {
  const message = `No product has the id "${clip(productId)}"; GET /v1/products lists them.`;
  return new AppError('resource_missing', message, { param });
}

export function productInactive(productId: string, param = 'product_id'): AppError {
  const message = `The product "${clip(productId)}" is not active: it can no longer be ordered. GET /v1/products lists those that can.`;
  return conflict(message, param);
}

import type { Product } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { Context } from '../context.ts';
import { clip } from '../telemetry/clip.ts';
import { presentProduct } from './present.ts';
import { findProduct } from './sql/find.ts';

export async function getProduct(ctx: Context, { params }: { params: { id: string } }): Promise<Product> {
  const row = await findProduct(ctx.db, params.id);
  if (!row)
    throw new AppError('resource_missing', `No product has the id "${clip(params.id)}".`, { param: 'id' });
  return presentProduct(row);
}

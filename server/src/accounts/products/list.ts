import type { InputFor } from '@simplane/contract';
import { readPage } from '../../platform/lists/read-page.ts';
import type { Context, OperatorContext } from '../context.ts';
import { presentCatalogProduct, presentProduct } from './present.ts';
import { listCatalogRows, listProductRows, type ProductRow } from './sql.ts';

export function listProducts(ctx: Context, { query }: InputFor<'listProducts'>) {
  const { country } = query;
  return readPage(query, {
    scope: { list: 'products', accountId: ctx.account.id, filters: { country } },
    read: (position, count) =>
      listProductRows(ctx.db, country, { before: position === null ? null : parse(position), count }),
    positionOf,
    positionPattern,
    present: presentProduct,
  });
}

/** Every product of the catalog, for the operator. */
export function listCatalogProducts(
  { db }: Pick<OperatorContext, 'db'>,
  { query }: InputFor<'listCatalogProducts'>,
) {
  return readPage(query, {
    scope: { list: 'catalog_products', accountId: '', filters: {} },
    read: (position, count) =>
      listCatalogRows(db, { before: position === null ? null : parse(position), count }),
    positionOf,
    positionPattern,
    present: presentCatalogProduct,
  });
}

const positionPattern = /^\d{1,15} \S+$/;

function positionOf(row: ProductRow): string {
  return `${row.created_at.getTime()} ${row.id}`;
}

function parse(position: string): { createdAt: Date; id: string } {
  const [createdAtMs, id = ''] = position.split(' ');
  return { createdAt: new Date(Number(createdAtMs)), id };
}

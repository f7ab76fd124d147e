import type { InputOf, Operations } from '@simplane/contract';
import type { Context } from '../context.ts';
import { readPage } from '../lists/read-page.ts';
import { presentProduct } from './present.ts';
import { listProductRows } from './sql/list.ts';
import type { ProductRow } from './sql/rows.ts';

export function listProducts(ctx: Context, { query }: InputOf<Operations['listProducts']>) {
  const { country } = query;
  return readPage(query, {
    scope: { list: 'products', accountId: ctx.account.id, filters: { country } },
    read: (position, count) =>
      listProductRows(ctx.db, country, { before: position === null ? null : parse(position), count }),
    positionOf,
    positionPattern: /^\d{1,15} \S+$/,
    present: presentProduct,
  });
}

function positionOf(row: ProductRow): string {
  return `${row.created_at.getTime()} ${row.id}`;
}

function parse(position: string): { createdAt: Date; id: string } {
  const [createdAtMs, id = ''] = position.split(' ');
  return { createdAt: new Date(Number(createdAtMs)), id };
}

import type { Queryable } from '../../../platform/db/database.ts';
import { type CatalogRow, catalogColumns } from './rows.ts';

/** Products of any state, newest first. */
export function listCatalogRows(
  db: Queryable,
  page: { before: { createdAt: Date; id: string } | null; count: number },
): Promise<CatalogRow[]> {
  return db.query(
    {
      name: 'product_list_catalog',
      text: `
select ${catalogColumns}
from products
where (created_at, id) < ($1, $2)
order by created_at desc, id desc
limit $3`,
    },
    [page.before?.createdAt ?? 'infinity', page.before?.id ?? '', page.count],
  );
}

import type { Queryable } from '../../../platform/db/database.ts';
import { type CatalogRow, catalogColumns } from './rows.ts';

/** Those of the products that exist. Locked in the order of their ids, so that two catalogs cannot deadlock. */
export function lockProducts(tx: Queryable, ids: string[]): Promise<CatalogRow[]> {
  return tx.query(
    {
      name: 'product_lock',
      text: `
select ${catalogColumns}
from products
where id = any($1)
order by id
for update`,
    },
    [ids],
  );
}

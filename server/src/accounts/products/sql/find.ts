import type { Queryable } from '../../../platform/db/database.ts';
import { type CatalogRow, catalogColumns, columns, type ProductRow } from './rows.ts';

export async function findProduct(db: Queryable, id: string): Promise<ProductRow | null> {
  const [row] = await db.query<ProductRow>(
    {
      name: 'product_find',
      text: `
select ${columns}
from products
where id = $1`,
    },
    [id],
  );
  return row ?? null;
}

export async function findCatalogProduct(db: Queryable, id: string): Promise<CatalogRow | null> {
  const [row] = await db.query<CatalogRow>(
    {
      name: 'product_find_catalog',
      text: `
select ${catalogColumns}
from products
where id = $1`,
    },
    [id],
  );
  return row ?? null;
}

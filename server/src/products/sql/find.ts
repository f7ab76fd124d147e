import type { Queryable } from '../../db/database.ts';
import { columns, type ProductRow } from './rows.ts';

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

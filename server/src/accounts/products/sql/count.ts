import type { Queryable } from '../../../platform/db/database.ts';

export async function countProducts(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: 'product_count',
    text: `
select count(*)
from products`,
  });
  return row?.count ?? 0;
}

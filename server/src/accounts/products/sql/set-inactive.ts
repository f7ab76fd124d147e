import type { Queryable } from '../../../platform/db/database.ts';

export async function setInactive(tx: Queryable, id: string): Promise<void> {
  await tx.query(
    {
      name: 'product_deactivate',
      text: `
update products
set active = false
where id = $1 and active`,
    },
    [id],
  );
}

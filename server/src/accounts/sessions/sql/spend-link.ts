import type { Queryable } from '../../../platform/db/database.ts';

/** False if another request has spent it. */
export async function spendLink(tx: Queryable, hash: Buffer): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'link_spend',
      text: `
delete from dashboard_links
where hash = $1
returning 1`,
    },
    [hash],
  );
  return rows.length > 0;
}

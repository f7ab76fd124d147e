import type { Queryable } from '../../db/database.ts';

/** The account that an ICCID belongs to: networks report by ICCID alone. It never changes. */
export async function findOwner(db: Queryable, iccid: string): Promise<string | null> {
  const [row] = await db.query<{ account_id: string }>(
    {
      name: 'esim_owner',
      text: `
select account_id
from esims
where iccid = $1`,
    },
    [iccid],
  );
  return row?.account_id ?? null;
}

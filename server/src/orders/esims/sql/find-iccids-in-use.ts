import type { Queryable } from '../../../platform/db/database.ts';

/** Checks all accounts, because an ICCID belongs to at most one eSIM. */
export async function findIccidsInUse(db: Queryable, iccids: string[]): Promise<Set<string>> {
  const rows = await db.query<{ iccid: string }>(
    {
      name: 'iccid_in_use',
      text: `
select iccid
from esims
where iccid = any($1)
union all
select iccid
from execution_queue
where iccid = any($1) and type = 'esim.provision'`,
    },
    [iccids],
  );
  return new Set(rows.map(({ iccid }) => iccid));
}

import type { Queryable } from '../../../platform/db/database.ts';

/** ICCIDs that exist but could not be locked, because their orders are open or have just ended. */
export async function findUnready(
  tx: Queryable,
  iccids: readonly string[],
  ofAccount: string | null,
): Promise<string[]> {
  const rows = await tx.query<{ iccid: string }>(
    {
      name: 'esim_find_unready',
      text: `
select iccid
from execution_queue
where iccid = any($1)
  and type = 'esim.provision'
  and ($2::uuid is null or account_id = $2)
union
select iccid
from esims
where iccid = any($1)
  and ($2::uuid is null or account_id = $2)`,
    },
    [iccids, ofAccount],
  );
  return rows.map(({ iccid }) => iccid);
}

import type { Queryable } from '../../../platform/db/database.ts';
import { isQueuedEsim } from './rows.ts';

/** The account of an ICCID, which never changes. Networks report by ICCID alone. */
export async function findOwner(db: Queryable, iccid: string): Promise<string | null> {
  const [row] = await db.query<{ account_id: string }>(
    {
      name: 'esim_owner',
      text: `
select account_id
from esims
where iccid = $1
union all
select account_id
from execution_queue
where iccid = $1 and ${isQueuedEsim}`,
    },
    [iccid],
  );
  return row?.account_id ?? null;
}

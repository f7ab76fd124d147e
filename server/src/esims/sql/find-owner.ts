import type { Queryable } from '../../db/database.ts';
import { isQueuedEsim } from './rows.ts';

/** The account that an ICCID belongs to: networks report by ICCID alone. It never changes. */
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

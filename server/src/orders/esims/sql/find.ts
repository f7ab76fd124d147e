import type { Queryable } from '../../../platform/db/database.ts';
import { columns, type EsimRow, isQueuedEsim, queuedColumns } from './rows.ts';

/** One statement, so one snapshot: an eSIM that moves out of the queue meanwhile is still found once. */
export async function findEsim(db: Queryable, accountUuid: string, iccid: string): Promise<EsimRow | null> {
  const [row] = await db.query<EsimRow>(
    {
      name: 'esim_find',
      text: `
select ${columns}
from esims
where account_id = $1 and iccid = $2
union all
select ${queuedColumns}
from execution_queue
where account_id = $1 and iccid = $2 and ${isQueuedEsim}`,
    },
    [accountUuid, iccid],
  );
  return row ?? null;
}

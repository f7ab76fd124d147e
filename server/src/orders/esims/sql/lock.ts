import type { Queryable } from '../../../platform/db/database.ts';
import { columns, type EsimRow, isQueuedEsim, queuedColumns } from './rows.ts';

/**
 * Locks the eSIM until the transaction ends, which serializes changes to it and its bundles. If its order is open, locks the
 * order's row in the queue; if the order ends meanwhile, the eSIM has moved to its own row.
 */
export async function lockEsim(tx: Queryable, accountUuid: string, iccid: string): Promise<EsimRow | null> {
  for (const statement of [lockStored, lockQueued, lockStored]) {
    const [row] = await tx.query<EsimRow>(statement, [accountUuid, iccid]);
    if (row) return row;
  }
  return null;
}

const lockStored = {
  name: 'esim_lock',
  text: `
select ${columns}
from esims
where account_id = $1 and iccid = $2
for update`,
};

const lockQueued = {
  name: 'esim_lock_queued',
  text: `
select ${queuedColumns}
from execution_queue
where account_id = $1 and iccid = $2 and ${isQueuedEsim}
for update`,
};

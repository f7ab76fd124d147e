import type { Queryable } from '../../../platform/db/database.ts';
import type { LockedEsim } from '../../esims/lock.ts';

/** Reports about an eSIM whose order is open are stored in the queue, and move to the eSIM's row when it is inserted. */
export async function updateQueued(
  tx: Queryable,
  { account_id, id }: LockedEsim,
  observed: Partial<Record<keyof LockedEsim, unknown>>,
): Promise<void> {
  await tx.query(
    {
      name: 'esim_observe_queued',
      text: `
update execution_queue
set observed = coalesce(observed, '{}') || $3
where account_id = $1 and id = $2`,
    },
    [account_id, id, JSON.stringify(observed)],
  );
}

import type { Queryable } from '../../../platform/db/database.ts';
import { isHeld } from '../../executions/held.ts';
import type { Fenced } from '../../executions/worker.ts';

/**
 * Takes the ICCID from an order that is about to fail, in the same transaction, so that no eSIM keeps it. Returns null if there
 * is none, if the claim was lost, or if the eSIM must stay: the network has reported on it, or a change of it was requested.
 */
export async function detachIccid(tx: Queryable, { account_id, id, fence }: Fenced): Promise<string | null> {
  // Locked in a statement of its own: the next one then sees every change that was requested before.
  const [order] = await tx.query<{ iccid: string }>(lock, [account_id, id, fence]);
  if (!order) return null;
  const detached = await tx.query(detach, [account_id, id, order.iccid]);
  return detached.length > 0 ? order.iccid : null;
}

const lock = {
  name: 'esim_lock_refused',
  text: `
select iccid
from execution_queue q
where q.account_id = $1
  and q.id = $2
  and ${isHeld('q', '$3')}
  and iccid is not null
  and observed is null
  and not is_terminated
for update`,
};

const detach = {
  name: 'esim_detach_iccid',
  text: `
update execution_queue q
set iccid = null
where q.account_id = $1
  and q.id = $2
  and not exists (
    select
    from execution_queue change
    where change.account_id = $1 and change.iccid = $3 and change.type <> 'esim.provision'
  )
returning 1`,
};

import type { Queryable } from '../../../platform/db/database.ts';
import { type ClaimedExecution, claimedColumns } from './rows.ts';

/**
 * Claims an execution for the caller's transaction, if it certainly never reached the network. A worker's claim locks the same
 * row, so one of the two finds it taken. `sent_order` is false only if a network that forgets calls was not called.
 */
export async function takeUnsent(
  tx: Queryable,
  accountUuid: string,
  uuid: string,
): Promise<ClaimedExecution | null> {
  const [row] = await tx.query<ClaimedExecution>(
    {
      name: 'execution_take_unsent',
      text: `
update execution_queue q
set fence = q.fence + 1,
    leased_until = now() + interval '1 minute'
where q.account_id = $1
  and q.id = $2
  and q.leased_until is null
  -- An adopted order has a profile at the network before its first claim.
  and not q.progress ? 'is_ordered'
  and (q.fence = 0 or q.progress -> 'sent_order' = 'false')
returning
  ${claimedColumns},
  null as profile_type`,
    },
    [accountUuid, uuid],
  );
  return row ?? null;
}

import type { Queryable } from '../../../platform/db/database.ts';
import { failureGroupOf } from '../../executions/failure-group.ts';

type Member = { account_id: string; id: string };

/** Failures of a group on which nobody has acted, oldest first, after one and up to another. */
export function findFailedMembers(
  db: Queryable,
  groupId: string,
  { afterUuid, lastUuid, count }: { afterUuid: string; lastUuid: string; count: number },
): Promise<Member[]> {
  return db.query(
    {
      name: 'failure_group_failed_members',
      text: `
select account_id, id
from executions
where failure_group = $1
  and id > $2
  and id <= $3
order by id
limit $4`,
    },
    [groupId, afterUuid, lastUuid, count],
  );
}

/** Makes executions of a group that wait due now, at most `count`. Returns them. */
export function makeMembersDue(tx: Queryable, groupId: string, count: number): Promise<Member[]> {
  return tx.query(
    {
      name: 'failure_group_make_due',
      text: `
update execution_queue q
set due_at = least(q.due_at, now())
where q.ctid = any(array(
  select ctid
  from execution_queue
  where fence > 0
    and leased_until is null
    and due_at > now()
    and progress ? 'last_error'
    and progress ? 'waiting_for'
    and ${failureGroupOf(`(progress -> 'last_error')`, 'progress')} = $1
  order by id
  limit $2
  for update skip locked
))
returning q.account_id, q.id`,
    },
    [groupId, count],
  );
}

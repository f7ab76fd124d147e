import type { Queryable } from '../../../platform/db/database.ts';

type FailedRow = {
  input: Record<string, unknown>;
  progress: Record<string, unknown>;
  retried_by: string | null;
  is_resolved: boolean;
};

/** Locks a failed execution until the transaction ends, so that only one decision is made about it. */
export async function lockFailed(
  tx: Queryable,
  accountUuid: string,
  uuid: string,
): Promise<FailedRow | null> {
  const locked = await tx.query(lock, [accountUuid, uuid]);
  if (locked.length === 0) return null;
  // In a statement of its own, which sees the decision of the lock's last holder.
  const [row] = await tx.query<FailedRow>(read, [accountUuid, uuid]);
  return row ?? null;
}

const lock = {
  name: 'execution_lock_failed',
  text: `
select 1
from executions
where account_id = $1 and id = $2 and status = 'failed'
for update`,
};

const read = {
  name: 'execution_read_failed',
  text: `
select
  input,
  progress,
  retried_by,
  exists (
    select
    from execution_resolutions r
    where r.account_id = e.account_id and r.execution_id = e.id
  ) as is_resolved
from executions e
where account_id = $1 and id = $2`,
};

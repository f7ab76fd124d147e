import type { Queryable } from '../../../platform/db/database.ts';

/** Makes an execution that waits due now. False if a worker holds it, or it has ended. */
export async function makeExecutionDue(tx: Queryable, accountUuid: string, uuid: string): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'execution_make_due',
      text: `
update execution_queue
set due_at = least(due_at, now())
where account_id = $1
  and id = $2
  and (leased_until is null or leased_until <= now())
returning 1`,
    },
    [accountUuid, uuid],
  );
  return rows.length > 0;
}

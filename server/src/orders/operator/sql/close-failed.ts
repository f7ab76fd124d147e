import type { Queryable } from '../../../platform/db/database.ts';

/** Takes a failed execution out of its group, and stores which execution was started in its place, if one was. */
export async function closeFailed(
  tx: Queryable,
  { accountUuid, uuid, retriedBy }: { accountUuid: string; uuid: string; retriedBy: string | null },
): Promise<void> {
  await tx.query(
    {
      name: 'execution_close_failed',
      text: `
update executions
set retried_by = $3,
    failure_group = null
where account_id = $1 and id = $2`,
    },
    [accountUuid, uuid, retriedBy],
  );
}

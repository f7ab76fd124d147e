import type { Queryable } from '../../../../platform/db/database.ts';

/** Ends recoveries whose endpoint was disabled or deleted; the owner requests a new one after enabling it. */
export async function closeOrphanedRecoveries(db: Queryable, at: Date): Promise<void> {
  await db.query(
    {
      name: 'recovery_close_hopeless',
      text: `
with orphaned as (
  select account_id, id
  from recoveries open
  where finished_at is null and not exists (
    select from webhook_endpoints endpoint
    where endpoint.account_id = open.account_id and endpoint.id = open.endpoint_id and endpoint.status = 'enabled')
  for update skip locked
)
update recoveries closed
set finished_at = $1, is_canceled = true
from orphaned
where closed.account_id = orphaned.account_id and closed.id = orphaned.id`,
    },
    [at],
  );
}

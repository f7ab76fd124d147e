import type { Queryable } from '../../../db/database.ts';
import { column, rowsOf } from '../../../db/rows.ts';
import type { LockedRecovery } from './lock-recovery.ts';

type MissedEvent = { uuid: string; eventUuid: string };

const given = rowsOf<MissedEvent>(
  {
    id: column.uuid((one) => one.uuid),
    event_id: column.uuid((one) => one.eventUuid),
  },
  4,
);

/** Queues the given events, except those already delivered to the endpoint or pending for it. */
export async function insertMissed(
  tx: Queryable,
  { account_id, endpoint_id }: LockedRecovery,
  { events, createdAt }: { events: MissedEvent[]; createdAt: Date },
): Promise<number> {
  const rows = await tx.query(
    {
      name: 'recovery_insert_missed',
      text: `
insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
select $1, given.id, given.event_id, $2, 'recovery', $3
from ${given.table} given
where not exists (
  select from (select account_id, endpoint_id from delivery_queue where event_id = given.event_id offset 0) queued
  where queued.account_id = $1 and queued.endpoint_id = $2
) and not exists (
  select from (
    select endpoint_id, status from deliveries where account_id = $1 and event_id = given.event_id offset 0) ended
  where ended.endpoint_id = $2 and ended.status = 'succeeded'
)
returning 1`,
    },
    [account_id, endpoint_id, createdAt, ...given.values(events)],
  );
  return rows.length;
}

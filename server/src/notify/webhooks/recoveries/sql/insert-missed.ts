import type { Queryable } from '../../../../platform/db/database.ts';
import { column, rowsOf } from '../../../../platform/db/rows.ts';
import { positionOfEvent, positionOfExpired } from '../../position-of-event.ts';
import { isMissed } from './is-missed.ts';
import type { LockedRecovery } from './lock-recovery.ts';

/** With an ICCID, it is delivered in the order of the feed. */
type MissedEvent = { uuid: string; eventUuid: string; iccid: string | null };

const given = rowsOf<MissedEvent>(
  {
    id: column.uuid((one) => one.uuid),
    event_id: column.uuid((one) => one.eventUuid),
    order_key: column.text((one) => one.iccid),
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
with missed as materialized (
  select $1::uuid as account_id, given.id, given.event_id, $2::uuid as endpoint_id, given.order_key, $3::timestamptz as created_at
  from ${given.table} given
  where ${isMissed}
), queued as (
  insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
  select account_id, id, event_id, endpoint_id, 'recovery', created_at
  from missed
  where order_key is null
), put_in_order as (
  insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, position, created_at)
  select account_id, id, event_id, endpoint_id, 'recovery', order_key,
    coalesce(${positionOfEvent('missed.account_id', 'missed.event_id')}, ${positionOfExpired('missed.account_id', 'missed.event_id')}),
    created_at
  from missed
  where order_key is not null
)
select 1 from missed`,
    },
    [account_id, endpoint_id, createdAt, ...given.values(events)],
  );
  return rows.length;
}

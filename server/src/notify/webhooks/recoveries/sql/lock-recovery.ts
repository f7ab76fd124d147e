import type { Ordering } from '@simplane/contract';
import type { Queryable } from '../../../../platform/db/database.ts';

export type LockedRecovery = {
  account_id: string;
  id: string;
  endpoint_id: string;
  from_event: string;
  position: string;
  enabled_event_types: string[];
  ordering: Ordering;
};

// An event written while the endpoint was disabled may commit after the recovery was requested. So the first batch waits until
// all transactions older than the recovery have ended and their events are visible.
const isReady = `(recovery.position < recovery.until_event
  or age(recovery.xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid))`;

/**
 * Locks one free recovery of another account than these, and its endpoint, without waiting. The endpoint's lock serializes its recoveries and keeps it from being
 * disabled halfway. The recovery at the newest event goes first, so a long recovery does not delay a short one.
 */
export async function lockRecovery(
  tx: Queryable,
  exceptAccountUuids: string[],
): Promise<LockedRecovery | null> {
  const [row] = await tx.query<LockedRecovery>(
    {
      name: 'recovery_take',
      text: `
select recovery.account_id, recovery.id, recovery.endpoint_id, recovery.from_event, recovery.position,
  endpoint.enabled_event_types, endpoint.ordering
from recoveries recovery
join webhook_endpoints endpoint on endpoint.account_id = recovery.account_id and endpoint.id = recovery.endpoint_id
where recovery.finished_at is null and endpoint.status = 'enabled' and ${isReady} and recovery.account_id <> all($1::uuid[])
order by recovery.position desc
limit 1
for update of recovery skip locked
for no key update of endpoint skip locked`,
    },
    [exceptAccountUuids],
  );
  return row ?? null;
}

import type { Queryable } from '../../../../platform/db/database.ts';

/** Ends these leases early, so that another process need not wait for them to expire. */
export async function endLeases(db: Queryable, holder: string, endpointUuids: string[]): Promise<void> {
  await db.query(
    {
      name: 'lease_end',
      text: `
delete from endpoint_leases
where endpoint_id = any($1::uuid[]) and holder = $2`,
    },
    [endpointUuids, holder],
  );
}

/** Ends every lease; returns how many. Call it only while no sender runs: then every lease belongs to a dead process. */
export async function endAbandonedLeases(db: Queryable): Promise<number> {
  const rows = await db.query({
    name: 'lease_end_abandoned',
    text: `
delete from endpoint_leases
where leased_until > now()
returning 1`,
  });
  return rows.length;
}

/** Deletes the leases of deleted endpoints. */
export async function deleteStaleLeases(db: Queryable): Promise<void> {
  await db.query({
    name: 'lease_delete_stale',
    text: `
delete from endpoint_leases l
where leased_until < now() - interval '1 hour'
  and not exists (
    select
    from webhook_endpoints e
    where e.account_id = l.account_id and e.id = l.endpoint_id)`,
  });
}

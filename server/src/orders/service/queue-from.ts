/**
 * Overwrites the eSIMs' rows in the core's queue, so that only the newest state is sent. `source` has account_id, iccid, queue_id,
 * version, service and at.
 */
export function queueFrom(source: string): string {
  return `
  insert into core_queue as known (account_id, iccid, id, version, service, since, due_at)
  select account_id, iccid, queue_id, version, service::jsonb, at, now()
  from ${source}
  order by account_id, iccid
  on conflict (account_id, iccid) do update
  set version = excluded.version,
      service = excluded.service,
      id = case when known.is_refused then excluded.id else known.id end,
      since = case when known.is_refused then excluded.since else known.since end,
      due_at = excluded.due_at,
      leased_until = null,
      failures = 0,
      error = null,
      is_refused = false
  where known.version < excluded.version`;
}

export type PendingTable = 'delivery_queue' | 'blocked_deliveries';

/**
 * The CTEs `removed` and `canceled`: move the rows that `waiting (ctid)` has locked to the history. By ctid, because a plan
 * made while the table was empty would scan it completely for a join by key. `waiting` has compared the account; comparing it here
 * too would let the plan read all rows of the account and compare each with every ctid.
 */
export function cancelRows(table: PendingTable, at: string): string {
  return `removed as (
  delete from ${table}
  where ctid = any(array(select ctid from waiting))
  returning account_id, id, event_id, endpoint_id, origin, ${table === 'delivery_queue' ? 'attempt_count' : '0 as attempt_count'},
    created_at
), canceled as (
  insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at, finished_at)
  select account_id, id, event_id, endpoint_id, 'canceled', origin, attempt_count, created_at, ${at}
  from removed
  returning 1
)`;
}

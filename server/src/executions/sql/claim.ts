import { texts } from '../../db/binary-array.ts';
import type { Queryable } from '../../db/database.ts';
import type { ClaimedExecution } from './rows.ts';

type Wanted = {
  count: number;
  leaseMs: number;
  /** Executions that came due before this are not looked at; null for all of them. */
  since: Date | null;
  /** For orders that have no ICCID yet: each gets another one. Empty if they get theirs elsewhere. */
  iccids: string[];
};

/** What a claim has taken, and when the last of it came due. */
export type Claimed = { executions: ClaimedExecution[]; latestDueAt: Date | null };

/**
 * Takes executions that are due and that nobody holds, oldest first, until the end of the lease. The database's clock is the
 * only one. `due_at` stays as it is and the lease has no index, so a claim that allots no ICCID is an update within the page
 * (HOT).
 */
export async function claimExecutionRows(db: Queryable, wanted: Wanted): Promise<Claimed> {
  const { count, leaseMs, since, iccids } = wanted;
  const values = [count, leaseMs, since ?? '-infinity', texts(iccids)];
  const rows = await db.query<ClaimedExecution & { due_at: Date }>(claim, values);
  let latestDueAt: Date | null = null;
  for (const { due_at: dueAt } of rows) if (!latestDueAt || dueAt > latestDueAt) latestDueAt = dueAt;
  return { executions: rows, latestDueAt };
}

// By ctid: a join by key would scan a queue that was analysed while it was empty, for as long as the plan is kept.
const claim = {
  name: 'execution_claim',
  text: `
with due as materialized (
  select ctid
  from execution_queue
  -- Whatever a worker has seen, the last moments are looked at: the clock may have been set back, as by a switchover.
  where due_at >= least($3::timestamptz, now() - interval '250 milliseconds')
    and due_at <= now()
    and (leased_until is null or leased_until <= now())
  order by due_at
  limit $1
  for update skip locked
)
update execution_queue q
set fence = q.fence + 1,
    attempts = q.attempts + 1,
    leased_until = now() + $2::integer * interval '1 millisecond',
    iccid = case when q.iccid is null and q.type = 'esim.provision' then ($4::text[])[due.n] else q.iccid end
from unnest(array(select ctid from due)) with ordinality as due (place, n)
where q.ctid = due.place
returning
  q.account_id,
  q.id,
  q.type,
  q.product_id,
  q.iccid,
  q.input,
  q.progress,
  q.attempts,
  q.fence,
  q.is_terminated,
  q.due_at,
  (select profile_type from products where products.id = q.product_id) as profile_type`,
};

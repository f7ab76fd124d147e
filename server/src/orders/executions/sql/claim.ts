import type { ExecutionType } from '@simplane/contract';
import { texts } from '../../../platform/db/binary-array.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { type ClaimedExecution, claimedColumns } from './rows.ts';

type Wanted = {
  count: number;
  leaseMs: number;
  /** Ignores executions that came due earlier; null for no lower bound. */
  since: Date | null;
  /** One for each order that has no ICCID yet. Empty if orders get their ICCIDs elsewhere. */
  iccids: string[];
  /** Only these types; all if omitted. */
  types?: ExecutionType[];
  /** With `types`: no order without an ICCID, whose first call might not be repeatable. */
  isRepeatable?: true;
};

/** The claimed executions, and the latest due time among them. */
export type Claimed = { executions: ClaimedExecution[]; latestDueAt: Date | null };

/**
 * Claims due executions that no worker holds, oldest first, for the length of the lease. After it ends, the next claim takes the row
 * and increments its fence, which stops all writes of the old holder. All times are the database's.
 * `due_at` does not change and the lease is not indexed, so a claim that allots no ICCID is a HOT update.
 */
export async function claimExecutionRows(db: Queryable, wanted: Wanted): Promise<Claimed> {
  const { count, leaseMs, since, iccids, types, isRepeatable } = wanted;
  const values: unknown[] = [count, leaseMs, since ?? '-infinity', texts(iccids)];
  if (types) values.push(texts(types));
  const statement = types ? (isRepeatable ? claimRepeatable : claimOfTypes) : claim;
  const rows = await db.query<ClaimedExecution & { due_at: Date }>(statement, values);
  let latestDueAt: Date | null = null;
  for (const { due_at: dueAt } of rows) if (!latestDueAt || dueAt > latestDueAt) latestDueAt = dueAt;
  return { executions: rows, latestDueAt };
}

// By ctid: if the queue was empty when it was analyzed, a cached plan with a join by key scans the whole queue.
const textWith = (condition = '') => `
with due as materialized (
  select ctid
  from execution_queue
  -- Always includes the last moments, because the clock may have been set back, for example by a switchover.
  where due_at >= least($3::timestamptz, now() - interval '250 milliseconds')
    and due_at <= now()
    and (leased_until is null or leased_until <= now())
    ${condition}
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
  ${claimedColumns},
  q.due_at,
  (select profile_type from products where products.id = q.product_id) as profile_type`;

const claim = { name: 'execution_claim', text: textWith() };
const ofTypes = 'and type = any($5::text[])';
const claimOfTypes = { name: 'execution_claim_of_types', text: textWith(ofTypes) };
const claimRepeatable = {
  name: 'execution_claim_repeatable',
  text: textWith(`${ofTypes}
    and (type <> 'esim.provision' or iccid is not null)`),
};

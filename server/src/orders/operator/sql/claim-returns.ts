import type { Queryable } from '../../../platform/db/database.ts';

/** A profile to give back, held by one worker. */
export type ClaimedReturn = {
  account_id: string;
  execution_id: string;
  iccid: string;
  /** The device that the order was for. */
  eid: string | null;
  fence: number;
  attempts: number;
};

/** Claims profiles that an operator decided to give back, of all accounts. */
export function claimReturns(db: Queryable, count: number, leaseMs: number): Promise<ClaimedReturn[]> {
  return db.query(
    {
      name: 'operator_claim_returns',
      text: `
with due as materialized (
  select ctid
  from execution_resolutions
  where closed_at is null
    and due_at <= now()
    and (leased_until is null or leased_until <= now())
  order by due_at
  limit $1
  for update skip locked
)
update execution_resolutions r
set fence = r.fence + 1,
    attempts = r.attempts + 1,
    leased_until = now() + $2::integer * interval '1 millisecond'
where r.ctid = any(array(select ctid from due))
returning
  r.account_id,
  r.execution_id,
  r.iccid,
  (
    select input ->> 'eid'
    from executions e
    where e.account_id = r.account_id and e.id = r.execution_id
  ) as eid,
  r.fence,
  r.attempts`,
    },
    [count, leaseMs],
  );
}

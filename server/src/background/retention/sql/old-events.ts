import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { boundsOf, isBefore, isInRange, type Range } from './ranges.ts';

type Old = { range: Range; thanUuid: string };

/** How many events of each account in the range have ids before `thanUuid`. */
export function countOldEvents(
  tx: Queryable,
  { range, thanUuid }: Old,
): Promise<{ accountUuid: string; count: number }[]> {
  return tx.query(
    {
      name: 'retention_count_events',
      text: `
select account_id as "accountUuid", count(*)::integer as count
from events
where ${isInRange} and ${isBefore('id')}
group by account_id`,
    },
    [...boundsOf(range), thanUuid],
  );
}

/** `keptFromUuid`: the lowest event id of the account that must stay, or null. */
type Account = { accountUuid: string; keptFromUuid: string | null };

const given = rowsOf<Account>(
  {
    account_id: column.uuid((one) => one.accountUuid),
    kept_from: column.uuid((one) => one.keptFromUuid),
  },
  4,
);

/**
 * Deletes the range's events with ids before `thanUuid`, of these accounts. Those with a pending delivery stay: nothing else could send
 * it. Returns how many.
 */
export async function deleteEvents(
  tx: Queryable,
  { range, thanUuid }: Old,
  accounts: readonly Account[],
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    {
      name: 'retention_delete_events',
      text: `
with old as materialized (
  select ctid as place, account_id, id
  from events
  where ${isInRange} and ${isBefore('id')}
), bounds as materialized (
  select
    (select id from old order by id limit 1) as lowest,
    (select id from old order by id desc limit 1) as highest
), pending as materialized (
  select queued.event_id
  from bounds
  cross join lateral (
    select event_id from delivery_queue where event_id between lowest and highest
    union all
    select event_id from blocked_deliveries where event_id between lowest and highest
    offset 0) queued
), removed as (
  delete from events
  where ctid = any(array(
    select old.place
    from old
    join ${given.table} given on given.account_id = old.account_id
    where (given.kept_from is null or old.id < given.kept_from)
      and old.id not in (select event_id from pending)))
  returning 1
)
select count(*)::integer as count
from removed`,
    },
    [...boundsOf(range), thanUuid, ...given.values(accounts)],
  );
  return row?.count ?? 0;
}

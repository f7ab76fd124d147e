import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import type { Uncounted } from './claim-uncounted.ts';

export type UncountedRow = {
  accountUuid: string;
  /** The last position of the event's run. */
  position: number;
  newestUuid: string;
  /** Null for the first event of a run if its type is not wanted. */
  eventUuid: string | null;
  type: string | null;
  body: string | null;
};

const given = rowsOf<Uncounted>({
  account_id: column.uuid((row) => row.accountUuid),
  position: column.bigint((row) => row.position),
});

/** The next runs of each account until they have `count` events, with the events of the wanted types. */
export function readUncounted(
  tx: Queryable,
  claimed: Uncounted[],
  { types, count }: { types: string[]; count: number },
): Promise<UncountedRow[]> {
  return tx.query(
    {
      name: 'overview_read_uncounted',
      text: `
select
  run.account_id as "accountUuid",
  run.last_position as position,
  run.newest_id as "newestUuid",
  event.id as "eventUuid",
  event.type,
  event.body
from ${given.table} given
cross join lateral (
  select *
  from (
    select
      account_id,
      event_ids,
      newest_id,
      first_position + cardinality(event_ids) - 1 as last_position,
      sum(cardinality(event_ids)) over (order by first_position) - cardinality(event_ids) as before
    from event_feed
    where account_id = given.account_id and first_position > given.position
    order by first_position
    limit $${given.next + 1}
  ) runs
  where before < $${given.next + 1}::bigint
) run
cross join lateral unnest(run.event_ids) with ordinality as one (event_id, n)
left join lateral (
  select id, type, body
  from events
  where account_id = run.account_id and id = one.event_id and type = any($${given.next}::text[])
  offset 0
) event on true
where event.id is not null or one.n = 1
order by run.account_id, run.last_position, one.n`,
    },
    [...given.values(claimed), types, count],
  );
}

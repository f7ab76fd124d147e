import type { Queryable } from '../db/database.ts';
import { lowestUuid, lowestUuidAt } from '../ids/uuid-range.ts';
import { beforeFirst } from '../lists/keyset.ts';

export type EventRow = { id: string; body: string };

export async function findEvent(db: Queryable, accountUuid: string, uuid: string): Promise<EventRow | null> {
  const [row] = await db.query<EventRow>(
    { name: 'event_find', text: 'select id, body from events where account_id = $1 and id = $2' },
    [accountUuid, uuid],
  );
  return row ?? null;
}

export type EventFilter = {
  type: string | undefined;
  createdGte: number | undefined;
  createdLt: number | undefined;
  delivery: 'failed' | 'pending' | undefined;
};

// The account of queue rows is compared outside the subquery. Inside, a plan may read the account's whole queue for each event.
const hasDelivery = {
  pending: `exists (
    select from (select account_id from delivery_queue where event_id = events.id offset 0) queued
    where queued.account_id = events.account_id)`,
  failed: `exists (
    select from deliveries d
    where d.account_id = events.account_id and d.event_id = events.id and d.status = 'failed')`,
};

/**
 * Newest first. An id begins with its millisecond, so a range of times is a range of ids. A single type uses an index; a
 * family is several types. Each set of filters is a separate statement, so that each has its own plan.
 */
export function listEventRows(
  db: Queryable,
  accountUuid: string,
  filter: EventFilter,
  page: { beforeUuid: string | null; count: number },
): Promise<EventRow[]> {
  const until = filter.createdLt === undefined ? beforeFirst : lowestUuidAt(filter.createdLt * 1_000);
  const before = page.beforeUuid !== null && page.beforeUuid < until ? page.beforeUuid : until;
  const from = filter.createdGte === undefined ? lowestUuid : lowestUuidAt(filter.createdGte * 1_000);
  const values: unknown[] = [accountUuid, before, from, page.count];
  const { type, delivery } = filter;
  const delivered = delivery === undefined ? '' : `and ${hasDelivery[delivery]}`;
  const suffix = delivery === undefined ? '' : `_${delivery}`;
  const pageClause = `and id < $2 and id >= $3 ${delivered} order by id desc limit $4`;
  if (type === undefined) {
    return db.query(
      {
        name: `event_list${suffix}`,
        text: `select id, body from events where account_id = $1 ${pageClause}`,
      },
      values,
    );
  }
  if (!type.endsWith('.*')) {
    const text = `select id, body from events where account_id = $1 and type = $5 ${pageClause}`;
    return db.query({ name: `event_list_type${suffix}`, text }, [...values, type]);
  }
  return db.query({ name: `event_list_family${suffix}`, text: familyList(pageClause) }, [
    ...values,
    ...rangeOf(type),
  ]);
}

/** Skips from type to type within the family, reads a page of each and merges them: fast for rare and common families. */
function familyList(pageClause: string): string {
  return `
with recursive types as (
  (select type from events where account_id = $1 and type >= $5 and type < $6 order by type limit 1)
  union all
  select (select e.type from events e where e.account_id = $1 and e.type > types.type and e.type < $6 order by e.type limit 1)
  from types where types.type is not null
)
select one.id, one.body
from types cross join lateral (select id, body from events where account_id = $1 and type = types.type ${pageClause}) one
where types.type is not null order by one.id desc limit $4`;
}

/** `esim.*` is the range from `esim.` up to `esim/`, since `/` follows the dot. */
function rangeOf(family: string): [string, string] {
  const prefix = family.slice(0, -1);
  return [prefix, `${prefix.slice(0, -1)}/`];
}

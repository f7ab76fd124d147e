import type { Queryable } from '../../db/database.ts';
import { type CreatedRange, idRangeOf } from '../../lists/created-range.ts';
import { pageOfValue } from '../../lists/keyset.ts';
import { hasPendingDelivery } from '../has-pending-delivery.ts';
import type { EventRow } from './event-row.ts';
import { type About, listEventsAbout } from './list-about.ts';

type EventFilter = {
  /** Names, and families such as `esim.*`. */
  types: string[] | undefined;
  created: CreatedRange | undefined;
  delivery: 'failed' | 'pending' | undefined;
  about?: About | undefined;
};

const hasDelivery = {
  pending: hasPendingDelivery,
  failed: `exists (
    select from deliveries d
    where d.account_id = events.account_id and d.event_id = events.id and d.status = 'failed')`,
};

/**
 * Newest first. An id begins with its millisecond, so a range of times is a range of ids. A type uses an index; a family is
 * several types. Each set of filters is a separate statement, so that each has its own plan.
 */
export function listEventRows(
  db: Queryable,
  accountUuid: string,
  { types, created, delivery, about }: EventFilter,
  page: { beforeUuid: string | null; count: number },
): Promise<EventRow[]> {
  const { fromUuid, beforeUuid } = idRangeOf(created, page.beforeUuid);
  const values: unknown[] = [accountUuid, beforeUuid, fromUuid, page.count];
  const delivered = delivery === undefined ? '' : `and ${hasDelivery[delivery]}`;
  const suffix = delivery === undefined ? '' : `_${delivery}`;
  const ranges = types?.map(rangeOf) ?? [];
  const limits = [ranges.map(([first]) => first), ranges.map(([, end]) => end)];
  if (about) {
    const range = { beforeUuid, fromUuid, count: page.count };
    return listEventsAbout(db, accountUuid, about, range, {
      name: `${types === undefined ? '' : '_types'}${suffix}`,
      conditions: (first) => `${types === undefined ? '' : `and ${isOfTypes(first)}`} ${delivered}`,
      values: types === undefined ? [] : limits,
    });
  }
  if (types === undefined) {
    return db.query(
      {
        name: `event_list${suffix}`,
        text: `
select id, body
from events
where account_id = $1 and id < $2 and id >= $3 ${delivered}
order by id desc
limit $4`,
      },
      values,
    );
  }
  const [type] = types;
  if (types.length === 1 && !type?.endsWith('.*')) {
    return db.query({ name: `event_list_type${suffix}`, text: typeList('$5', delivered) }, [...values, type]);
  }
  return db.query({ name: `event_list_types${suffix}`, text: typesList(delivered) }, [...values, ...limits]);
}

function isOfTypes(first: number): string {
  return `exists (
    select from unnest($${first}::text[], $${first + 1}::text[]) as range (first, last)
    where events.type >= range.first and events.type < range.last)`;
}

function typeList(type: string, delivered: string): string {
  const { condition, order } = pageOfValue('type', type, '$3');
  return `
select id, body
from events
where account_id = $1 and ${condition} ${delivered}
order by ${order}
limit $4`;
}

/** Skips from type to type within each range, reads a page of each and merges them: fast for rare and common types. */
function typesList(delivered: string): string {
  return `
with recursive types as (
  select
    (
      select e.type
      from events e
      where e.account_id = $1 and e.type >= range.first and e.type < range.last
      order by e.type
      limit 1
    ) as type,
    range.last
  from unnest($5::text[], $6::text[]) as range (first, last)
  union all
  select
    (
      select e.type
      from events e
      where e.account_id = $1 and e.type > types.type and e.type < types.last
      order by e.type
      limit 1
    ),
    types.last
  from types
  where types.type is not null
)
select one.id, one.body
from (select distinct type from types where type is not null) wanted
cross join lateral (${typeList('wanted.type', delivered)}) one
order by one.id desc
limit $4`;
}

/** `esim.*` is the range from `esim.` up to `esim/`, since `/` follows the dot. A name is the only one before `name!`. */
function rangeOf(type: string): [string, string] {
  if (!type.endsWith('.*')) return [type, `${type}!`];
  const prefix = type.slice(0, -1);
  return [prefix, `${prefix.slice(0, -1)}/`];
}

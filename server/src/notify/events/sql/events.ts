import type { Queryable } from '../../../platform/db/database.ts';
import { one } from '../../../platform/db/statement.ts';
import { type CreatedRange, idRangeOf } from '../../../platform/lists/created-range.ts';
import { pageOfValue } from '../../../platform/lists/keyset.ts';
import { maxTypes, tooManyTypes } from '../../../platform/lists/too-broad.ts';
import { typeRanges } from '../subscriptions.ts';
import { type About, type DeliveryState, listEventsAbout, listEventsByDelivery } from './filtered.ts';
import { type CutEvents, type EventRow, queryWithinBytes } from './page.ts';

export const findEvent = one<EventRow, [accountUuid: string, uuid: string]>('event_find')`
select id, body
from events
where account_id = $1 and id = $2`;

type EventFilter = {
  /** Names, and families such as `esim.*`, of which none contains another. */
  types: string[] | undefined;
  created: CreatedRange | undefined;
  delivery: DeliveryState | undefined;
  about?: About | undefined;
};

export type EventPage = { beforeUuid: string | null; count: number; maxBytes: number };

/**
 * Newest first. An id begins with its millisecond, so a range of times is a range of ids. A type uses an index; a family is
 * several types. Each set of filters is a separate statement, so that each has its own plan.
 */
export function listEventRows(
  db: Queryable,
  accountUuid: string,
  { types, created, delivery, about }: EventFilter,
  page: EventPage,
): Promise<CutEvents> {
  const { fromUuid, beforeUuid } = idRangeOf(created, page.beforeUuid);
  const { count, maxBytes } = page;
  const range = { fromUuid, beforeUuid, count, maxBytes };
  if (about) return listEventsAbout(db, accountUuid, about, range, { types, delivery });
  if (delivery) return listEventsByDelivery(db, accountUuid, { types, delivery }, range);
  const values = [accountUuid, beforeUuid, fromUuid, count];
  if (!types) return queryWithinBytes(db, list, values, maxBytes);
  const [type] = types;
  if (types.length > 1 || type?.endsWith('.*'))
    return listTypes(db, [...values, ...typeRanges(types)], maxBytes);
  return queryWithinBytes(db, listType, [...values, type], maxBytes);
}

const list = {
  name: 'event_list',
  text: `
select id, body
from events
where account_id = $1 and id < $2 and id >= $3
order by id desc
limit $4`,
};

const listType = { name: 'event_list_type', text: pageOfType('$5', 'id, body') };

function pageOfType(type: string, columns: string): string {
  const { condition, order } = pageOfValue('type', type, '$3');
  return `
select ${columns}
from events
where account_id = $1 and ${condition}
order by ${order}
limit $4`;
}

async function listTypes(db: Queryable, values: unknown[], maxBytes: number): Promise<CutEvents> {
  const page = await queryWithinBytes(db, listOfTypes, values, maxBytes);
  if (page.rows[0]?.id === null) throw tooManyTypes();
  return page;
}

/**
 * Skips from type to type within each range, reads the ids of a page of each and merges them: fast for rare and common types. A row
 * without an id says that there are too many: 20,000 take a second, and 1,000 take 50 ms.
 */
const listOfTypes = {
  name: 'event_list_types',
  text: `
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
),
wanted as materialized (
  select type
  from types
  where type is not null
  limit ${maxTypes + 1}
),
page as materialized (
  select one.id
  from wanted
  cross join lateral (${pageOfType('wanted.type', 'id')}) one
  where (select count(*) from wanted) <= ${maxTypes}
  order by one.id desc
  limit $4
)
select id, body
from (
  select one.id, one.body
  from page
  cross join lateral (select id, body from events where account_id = $1 and id = page.id offset 0) one
  union all
  select null, null
  where (select count(*) from wanted) > ${maxTypes}
) shown
order by id desc`,
};

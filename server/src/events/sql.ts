import type { Queryable } from '../db/database.ts';

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
};

const beforeFirst = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Newest first. An id begins with its millisecond, so a range of times is a range of ids and costs nothing. One type has
 * an index of its own; a family is read from the log itself.
 */
export function listEventRows(
  db: Queryable,
  accountUuid: string,
  filter: EventFilter,
  page: { beforeUuid: string | null; count: number },
): Promise<EventRow[]> {
  const until = filter.createdLt === undefined ? beforeFirst : firstUuidOf(filter.createdLt);
  const before = page.beforeUuid !== null && page.beforeUuid < until ? page.beforeUuid : until;
  const from =
    filter.createdGte === undefined ? '00000000-0000-0000-0000-000000000000' : firstUuidOf(filter.createdGte);
  const values = [accountUuid, before, from, page.count];
  const { type } = filter;
  if (type === undefined) return db.query(listAll, values);
  if (type.endsWith('.*')) return db.query(listFamily, [...values, type.slice(0, -1)]);
  return db.query(listType, [...values, type]);
}

const ranged = 'account_id = $1 and id < $2 and id >= $3';
const ordered = 'order by id desc limit $4';

const listAll = { name: 'event_list', text: `select id, body from events where ${ranged} ${ordered}` };
const listType = {
  name: 'event_list_type',
  text: `select id, body from events where ${ranged} and type = $5 ${ordered}`,
};
const listFamily = {
  name: 'event_list_family',
  text: `select id, body from events where ${ranged} and starts_with(type, $5) ${ordered}`,
};

/** The smallest UUID of that second. */
function firstUuidOf(seconds: number): string {
  const hex = (seconds * 1000).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}

import type { Queryable } from '../../../platform/db/database.ts';
import type { CutRows } from '../../../platform/lists/read-page.ts';

export type EventRow = { id: string; body: string };

/** `found`: how many rows there are without the bound. */
export type CutEvents = CutRows<EventRow> & { found: number };

/**
 * Ends a page of events, newest first, before its bodies exceed `maxBytes`; it has at least one. Of the others, only the length is
 * read: 100 bodies may have 25 MB.
 */
export async function queryWithinBytes(
  db: Queryable,
  { name, text }: { name: string; text: string },
  values: unknown[],
  maxBytes: number,
): Promise<CutEvents> {
  const bounded = `
select id, body, found
from (
  select id, body, count(*) over () as found,
    row_number() over newest_first as number, sum(octet_length(body)) over newest_first as bytes
  from (${text}) page
  window newest_first as (order by id desc)
) page
where number = 1 or bytes <= $${values.length + 1}
order by id desc`;
  const rows = await db.query<EventRow & { found: number }>({ name, text: bounded }, [...values, maxBytes]);
  const found = rows[0]?.found ?? 0;
  return { rows, isCut: rows.length < found, found };
}

/** SQL: whether the row of `events` is in the ranges of two parameters, of which this is the first. */
export function isOfTypes(first: number): string {
  return `exists (
    select from unnest($${first}::text[], $${first + 1}::text[]) as range (first, last)
    where events.type >= range.first and events.type < range.last)`;
}

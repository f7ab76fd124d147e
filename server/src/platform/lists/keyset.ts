import { lowestUuid } from '../ids/uuid-range.ts';

/** Greater than every UUIDv7: the start of a list. With a null test instead, a generic plan could not use the index range. */
export const beforeFirst = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A page in the order of ids, newest first. Null: from the start. */
export type IdPage = { beforeUuid: string | null; count: number };

/**
 * For a page that merges two tables: the id of the page's last row if the first table (a CTE with at most `$3` rows) fills it.
 * Older rows of the second table cannot be on the page, so reading stops at this id.
 */
export function oldestOnPage(table: string): string {
  return `coalesce(
    (select id from ${table} order by id desc limit 1 offset $3::integer - 1),
    '${lowestUuid}')`;
}

/**
 * A page of the rows with one value, as a range of an index that ends with (`column`, id). With `column = value`, a generic plan
 * that considers the value common walks the primary key: 800 ms for a value that is rare, in a table of a million rows.
 */
export function pageOfValue(column: string, value: string, from = `'${lowestUuid}'`) {
  return {
    condition: `(${column}, id) < (${value}, $2) and (${column}, id) >= (${value}, ${from})`,
    order: `${column} desc, id desc`,
  };
}

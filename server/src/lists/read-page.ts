import { pageSize } from '@simplane/contract';
import { decodeCursor, encodeCursor, type ListScope } from './cursor.ts';

type Query = { limit?: number; starting_after?: string };

type Reader<Row, Item> = {
  scope: ListScope;
  /** Reads at most `count` rows after `position` (null: from the start), in the list's order. */
  read(position: string | null, count: number): Promise<Row[]>;
  positionOf(row: Row): string;
  /** Format of a position. Default: a UUID. */
  positionPattern?: RegExp;
  present(row: Row): Item;
};

/** One page of a keyset list. Reads one extra row to find out whether there is another page. */
export async function readPage<Row, Item>(
  query: Query,
  { scope, read, positionOf, positionPattern = uuid, present }: Reader<Row, Item>,
) {
  const limit = Math.min(query.limit ?? pageSize.default, pageSize.maximum);
  const position =
    query.starting_after === undefined ? null : decodeCursor(scope, query.starting_after, positionPattern);
  const rows = await read(position, limit + 1);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return {
    object: 'list' as const,
    data: page.map(present),
    has_more: hasMore,
    ...(hasMore && last !== undefined && { next_cursor: encodeCursor(scope, positionOf(last)) }),
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

import { pageSize } from '@simplane/contract';
import { decodeCursor, encodeCursor, type ListScope } from './cursor.ts';
import { beforeFirst } from './keyset.ts';

type Query = { limit?: number; starting_after?: string };

type Reader<Row, Item> = {
  scope: ListScope;
  /**
   * Reads at most `count` rows after `position` (null: from the start), in the list's order. A list of large rows ends before
   * `maxBytes`, with at least one row, and says so.
   */
  read(position: string | null, count: number, maxBytes: number): Promise<Row[] | CutRows<Row>>;
  positionOf(row: Row): string;
  /** Format of a position. Default: a UUID. */
  positionPattern?: RegExp;
  present(row: Row): Item;
  /** For lists of large rows: waits until a page of `maxPageBytes` may be held. */
  waitForRoom?(): Promise<void>;
};

/** `isCut`: there are more rows, which did not fit. */
export type CutRows<Row> = { rows: Row[]; isCut: boolean };

/** A page of larger items is shorter than its limit. */
export const maxPageBytes = 4 * 1024 * 1024;

/** Most pages are smaller; a larger one is read again when there is room for it. A page of 100 executions has 28 kB. */
export const smallPageBytes = 256 * 1024;

/** One page of a keyset list. Reads one extra row to find out whether there is another page. */
export async function readPage<Row, Item>(query: Query, reader: Reader<Row, Item>) {
  const { scope, positionOf, positionPattern = uuid, waitForRoom } = reader;
  const limit = Math.min(query.limit ?? pageSize.default, pageSize.maximum);
  const position =
    query.starting_after === undefined ? null : decodeCursor(scope, query.starting_after, positionPattern);
  let page = waitForRoom && (await readWithin(reader, position, limit, smallPageBytes));
  if (!page || page.isCut) {
    page = undefined; // holds no memory while it waits
    await waitForRoom?.();
    page = await readWithin(reader, position, limit, maxPageBytes);
  }
  const { items, last, hasMore } = page;
  return {
    object: 'list' as const,
    data: items,
    has_more: hasMore,
    ...(hasMore && last !== undefined && { next_cursor: encodeCursor(scope, positionOf(last)) }),
  };
}

type ReaderById<Row, Item> = Omit<Reader<Row, Item>, 'read' | 'positionOf' | 'positionPattern'> & {
  /** As of a `Reader`; from the start, `beforeUuid` is `beforeFirst`. */
  read(beforeUuid: string, count: number, maxBytes: number): Promise<Row[] | CutRows<Row>>;
};

/** One page of a list in the order of the rows' ids, newest first. */
export function readPageById<Row extends { id: string }, Item>(query: Query, reader: ReaderById<Row, Item>) {
  return readPage(query, {
    ...reader,
    read: (position, ...limits) => reader.read(position ?? beforeFirst, ...limits),
    positionOf: (row) => row.id,
  });
}

async function readWithin<Row, Item>(
  { read, present }: Reader<Row, Item>,
  position: string | null,
  limit: number,
  maxBytes: number,
) {
  const found = await read(position, limit + 1, maxBytes);
  const { rows, isCut } = Array.isArray(found) ? { rows: found, isCut: false } : found;
  const items: Item[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    const item = present(row);
    bytes += Buffer.byteLength(JSON.stringify(item));
    if (bytes > maxBytes && items.length > 0) break;
    items.push(item);
  }
  const isShortened = items.length < Math.min(rows.length, limit);
  return {
    items,
    last: rows[items.length - 1],
    hasMore: isCut || rows.length > items.length,
    isCut: isShortened || (isCut && rows.length <= limit),
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

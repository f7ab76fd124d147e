import type { Call } from './call.ts';
import { SimplaneError } from './errors.ts';
import type { Page } from './generated.ts';

/** `await` returns one page; `for await` iterates over all items and fetches pages as needed. */
export type List<Item> = Promise<Page<Item>> &
  AsyncIterable<Item> &
  Pick<Call<Page<Item>>, 'withResponse'> & {
    /** Returns the first `limit` items, from as many pages as needed. */
    toArray(options: { limit: number }): Promise<Item[]>;
  };

type PageQuery = { limit?: number; starting_after?: string };

// Larger than the default, for fewer requests. An explicit `limit` overrides it.
const iterationPageSize = 100;

/** Sends no request until it is awaited or iterated. */
export function createList<Item, Query extends PageQuery>(
  query: Query | undefined,
  read: (query: PageQuery & Query) => Call<Page<Item>>,
): List<Item> {
  let firstPage: Call<Page<Item>> | undefined;
  const first = () => {
    firstPage ??= read({ ...query } as PageQuery & Query);
    return firstPage;
  };

  async function* iterate(pageSize: number): AsyncGenerator<Item, void> {
    let next = query?.starting_after;
    do {
      const page = await read({
        limit: pageSize,
        ...query,
        ...(next !== undefined && { starting_after: next }),
      } as PageQuery & Query);
      yield* page.data;
      next = page.has_more ? page.next_cursor : undefined;
    } while (next !== undefined);
  }

  // Not a native promise: it would have to send its request now. `catch` and `finally` are inherited and call `then`.
  return Object.assign(Object.create(Promise.prototype) as Promise<Page<Item>>, {
    // biome-ignore lint/suspicious/noThenProperty: a list is both awaitable and iterable
    then: ((onPage, onError) => first().then(onPage, onError)) as Promise<Page<Item>>['then'],
    withResponse: () => first().withResponse(),
    async toArray(options?: { limit: number }): Promise<Item[]> {
      const limit = checkedLimit(options?.limit);
      const items: Item[] = [];
      for await (const item of iterate(Math.min(limit, iterationPageSize))) {
        items.push(item);
        if (items.length === limit) break;
      }
      return items;
    },
    [Symbol.asyncIterator]: () => iterate(iterationPageSize),
  });
}

/** Required, because a whole list may not fit into memory. */
function checkedLimit(limit: number | undefined): number {
  if (limit !== undefined && Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new SimplaneError(`toArray needs { limit }, an integer of at least 1; got ${limit}.`);
}

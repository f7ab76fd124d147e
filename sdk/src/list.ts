import type { Call } from './call.ts';
import type { Page } from './generated.ts';

/** `await` returns one page; `for await` iterates over all items and fetches pages as needed. */
export type List<Item> = PromiseLike<Page<Item>> &
  AsyncIterable<Item> &
  Pick<Call<Page<Item>>, 'withResponse'>;

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
  return {
    withResponse: () => first().withResponse(),
    // biome-ignore lint/suspicious/noThenProperty: a list is both awaitable and iterable
    then: (onPage, onError) => first().then(onPage, onError),
    async *[Symbol.asyncIterator]() {
      let next = query?.starting_after;
      do {
        const page = await read({
          limit: iterationPageSize,
          ...query,
          ...(next !== undefined && { starting_after: next }),
        } as PageQuery & Query);
        yield* page.data;
        next = page.has_more ? page.next_cursor : undefined;
      } while (next !== undefined);
    },
  };
}

import type { Call } from './call.ts';
import type { Page } from './generated.ts';

/** Await it for one page; `for await` walks every item, fetching pages as they are needed. */
export type List<Item> = PromiseLike<Page<Item>> &
  AsyncIterable<Item> &
  Pick<Call<Page<Item>>, 'withResponse'>;

type PageQuery = { limit?: number; starting_after?: string };

// Fewer requests for those who want it all; a page of one's own size is still had by asking for it.
const walkedPageSize = 100;

/** Asks only when it is awaited or walked. */
export function createList<Item, Query extends PageQuery>(
  query: Query | undefined,
  read: (query: PageQuery & Query) => Call<Page<Item>>,
): List<Item> {
  let asked: Call<Page<Item>> | undefined;
  const first = () => {
    asked ??= read({ ...query } as PageQuery & Query);
    return asked;
  };
  return {
    withResponse: () => first().withResponse(),
    // biome-ignore lint/suspicious/noThenProperty: it is a promise, and a list to walk as well
    then: (onPage, onError) => first().then(onPage, onError),
    async *[Symbol.asyncIterator]() {
      let next = query?.starting_after;
      do {
        const page = await read({
          limit: walkedPageSize,
          ...query,
          ...(next !== undefined && { starting_after: next }),
        } as PageQuery & Query);
        yield* page.data;
        next = page.has_more ? page.next_cursor : undefined;
      } while (next !== undefined);
    },
  };
}

import type { QueryOf } from './call.ts';
import type { FeedPage, ReadFeed } from './feed.ts';
import { keepTrying } from './keep-trying.ts';
import { pause } from './pause.ts';
import { delayBefore } from './retry.ts';

// A server that waits does not answer sooner without an event. One that shuts down does.
const quickMs = 1_000;

/** Reads page after page, each with the query that is due then. Only the first request can fail for lack of a server. */
export async function* readFeedPages(
  feed: ReadFeed,
  nextQuery: () => NonNullable<QueryOf<'readEventFeed'>>,
  signal: AbortSignal,
): AsyncGenerator<FeedPage, void> {
  let page = await feed(nextQuery(), { signal });
  for (let quickAndEmpty = 0; ; ) {
    yield page;
    if (quickAndEmpty > 0) await pause(delayBefore(quickAndEmpty, null, Math.random()), signal);
    const startMs = performance.now();
    page = await keepTrying(signal, () => feed(nextQuery(), { signal }));
    const isQuick = page.data.length === 0 && performance.now() - startMs < quickMs;
    quickAndEmpty = isQuick ? quickAndEmpty + 1 : 0;
  }
}

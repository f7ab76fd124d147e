import type { FeedReader } from '../history/history.ts';
import { createRandom } from '../random.ts';
import type { RunContext } from '../run-context.ts';
import { until } from '../until.ts';
import { consumeFeed } from './consume-feed.ts';
import { pollFeed } from './poll-feed.ts';
import { streamFeed } from './stream-feed.ts';

export type FeedReaders = {
  /** Waits until every reader has seen all events of the final lists, or for this long, and stops them. */
  finish(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
};

const ways = { poll: pollFeed, stream: streamFeed, consumer: consumeFeed };

/** Starts a reader of each kind for each of these accounts. They follow the feed from `start` through all faults. */
export function startFeedReaders(ctx: RunContext, accounts: number[]): FeedReaders {
  const ending = new AbortController();
  const { signal } = ending;
  const failures: unknown[] = [];
  const readings = accounts.flatMap((account) =>
    Object.entries(ways).map(([kind, follow]) => {
      const reader: FeedReader = { account, kind: kind as FeedReader['kind'], seen: [], refusals: [] };
      ctx.history.feedReaders.push(reader);
      const random = createRandom(ctx.plan.seed, `reader ${account} ${kind}`);
      return follow({ ctx, reader, random, signal }).catch((error: unknown) => void failures.push(error));
    }),
  );

  function hasSeenAll({ account, seen }: FeedReader): boolean {
    const ids = new Set(seen.map(({ id }) => id));
    return (ctx.history.end[account]?.events ?? []).every(({ id }) => ids.has(id));
  }

  async function stop(): Promise<void> {
    ending.abort();
    await Promise.all(readings);
  }

  return {
    stop,
    async finish(timeoutMs) {
      await until(() => failures.length > 0 || ctx.history.feedReaders.every(hasSeenAll), timeoutMs);
      await stop();
      if (failures.length > 0) throw failures[0];
    },
  };
}

import type { QueryOf } from './call.ts';
import { SimplaneError } from './errors.ts';
import type { FeedPage, ReadFeed } from './feed.ts';
import { readFeedPages } from './read-feed-pages.ts';
import { type FeedStep, type StreamDeps, streamEvents } from './stream-events.ts';
import type { WebhookEvent } from './webhooks.ts';

export type FollowOptions = Pick<QueryOf<'readEventFeed'>, 'after' | 'since' | 'type'> & {
  /** Ends the loop, without an error. */
  signal?: AbortSignal | undefined;
  /**
   * `stream` (the default) uses server-sent events. `poll` uses long polling, for proxies that cannot stream; `cursor` then
   * moves only at the end of a page.
   */
  transport?: 'stream' | 'poll' | undefined;
  /** After this long without a byte, the stream is opened again. Defaults to 45 s; the server sends one every 15 s. */
  idleTimeoutMs?: number | undefined;
};

/** Events in the order of the feed, each once. A second loop continues after the last event of the first. */
export type FollowedEvents<E = WebhookEvent> = AsyncIterable<E> & {
  /** The place after the last event that the loop got. Store it; as `after`, it continues there in another process. */
  readonly cursor: string | undefined;
};

const waitSeconds = 20;

/** Sends no request until it is iterated. */
export function followEvents(deps: StreamDeps & { feed: ReadFeed }, options: FollowOptions): FollowedEvents {
  const { after = 'now', since, type, transport = 'stream', idleTimeoutMs = 45_000 } = options;
  const { signal = new AbortController().signal } = options;
  let cursor = after === 'start' || after === 'now' ? undefined : after;
  let restOfPage: FeedStep[] = []; // a loop may have left in the middle
  let isIterated = false;

  function place() {
    const start = since === undefined ? { after } : { since };
    return { ...(cursor === undefined ? start : { after: cursor }), ...(type !== undefined && { type }) };
  }

  async function* poll(): AsyncGenerator<FeedStep, void> {
    // The first request gets a cursor at once, as a stream does: if it waited for an event and failed, `now` would move on.
    const nextQuery = () => ({ ...place(), ...(cursor !== undefined && { wait: waitSeconds }) });
    yield* takeRest();
    for await (const page of readFeedPages(deps.feed, nextQuery, signal)) {
      restOfPage = stepsOf(page);
      yield* takeRest();
    }
  }

  function* takeRest(): Generator<FeedStep, void> {
    for (let step = restOfPage.shift(); step; step = restOfPage.shift()) yield step;
  }

  async function* iterate(): AsyncGenerator<WebhookEvent, void> {
    if (isIterated)
      throw new SimplaneError('One loop already follows these events. Call follow again for another.');
    if (options.after !== undefined && since !== undefined)
      throw new SimplaneError('Pass `after` or `since`, not both.');
    isIterated = true;
    const steps = transport === 'poll' ? poll() : streamEvents(deps, place, { signal, idleTimeoutMs });
    try {
      for await (const step of steps) {
        if (signal.aborted) return;
        cursor = step.cursor ?? cursor;
        if (step.event) yield step.event;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      isIterated = false;
    }
  }

  return {
    get cursor() {
      return cursor;
    },
    [Symbol.asyncIterator]: iterate,
  };
}

/** A page has one cursor, which is behind its last event. */
function stepsOf({ data, cursor }: FeedPage): FeedStep[] {
  const last = data.at(-1);
  return [...data.slice(0, -1).map((event) => ({ event })), { ...(last && { event: last }), cursor }];
}

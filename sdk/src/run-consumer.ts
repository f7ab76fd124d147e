import type { BodyOf, CallOperation } from './call.ts';
import { SimplaneError } from './errors.ts';
import type { ReadFeed } from './feed.ts';
import type { EventConsumer } from './generated.ts';
import { type EventHandler, handlePage } from './handle-page.ts';
import { readFeedPages } from './read-feed-pages.ts';

/** `after` and `type` are for a consumer that does not exist yet; one that does keeps its own. */
export type RunOptions = BodyOf<'putEventConsumer'> & {
  /** The most events to read at once. Defaults to 100, up to 1,000. */
  batchSize?: number | undefined;
  /** Ends the run after the event that is being handled, without an error. */
  signal?: AbortSignal | undefined;
};

type Deps = { call: CallOperation; feed: ReadFeed };

const waitSeconds = 20;

/** Handles the events of a consumer one at a time and in order, and acknowledges them afterwards. */
export async function runConsumer(
  { call, feed }: Deps,
  name: string,
  handler: EventHandler,
  { batchSize = 100, signal = new AbortController().signal, ...body }: RunOptions = {},
): Promise<void> {
  if (typeof handler !== 'function') throw new SimplaneError('A handler is required: run(name, handler).');
  const deps = { call, feed, name, handler, signal };
  try {
    const consumer = await call('putEventConsumer', { params: { name }, body }, { signal });
    if (body.type) checkTypes(consumer, body.type);
    let place = consumer.cursor;
    const query = { consumer: name, limit: batchSize, wait: waitSeconds };
    for await (const page of readFeedPages(feed, () => query, signal)) {
      // An empty page has moved on if it skipped events of other types.
      if (page.data.length > 0 || page.cursor !== place) await handlePage(deps, page);
      if (signal.aborted) return;
      place = page.cursor;
    }
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
  }
}

/** A consumer keeps the types that it was created with, so a later change would be ignored silently. */
function checkTypes({ name, type }: EventConsumer, wanted: string[]): void {
  const listOf = (types: string[] | null) => types?.toSorted().join(', ') ?? 'all types';
  if (listOf(type) === listOf(wanted)) return;
  throw new SimplaneError(
    `The consumer "${name}" exists and reads ${listOf(type)}, not ${listOf(wanted)}. Use another name, or delete it first.`,
  );
}

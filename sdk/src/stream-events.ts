import type { QueryOf } from './call.ts';
import { SimplaneError } from './errors.ts';
import { canHeal, healingDelay } from './keep-trying.ts';
import type { OpenEventStream } from './open-event-stream.ts';
import type { ServerSentEvent } from './parse-server-sent-events.ts';
import { pause } from './pause.ts';
import type { WebhookEvent } from './webhooks.ts';

/** A step forward in the feed. Either part can be missing: hidden events have no event, events of a page no cursor. */
export type FeedStep = { event?: WebhookEvent; cursor?: string | undefined };

export type StreamDeps = {
  openStream: OpenEventStream;
  /** Of the first connection. Once connected, it never gives up. */
  maxRetries: number;
};

// A connection that lasted this long was healthy, however it ended.
const healthyMs = 5_000;

/** Reads a stream of the feed and opens it again, at the place that is due then, whenever it ends. */
export async function* streamEvents(
  { openStream, maxRetries }: StreamDeps,
  place: () => NonNullable<QueryOf<'readEventFeed'>>,
  { signal, idleTimeoutMs }: { signal: AbortSignal; idleTimeoutMs: number },
): AsyncGenerator<FeedStep, void> {
  let wasConnected = false;
  for (let failures = 0; ; ) {
    const startMs = performance.now();
    let isHealthy = false;
    let failure: unknown;
    try {
      const blocks = await openStream(place(), { signal, idleTimeoutMs, attempt: failures + 1 });
      wasConnected = true;
      for await (const block of blocks) {
        isHealthy ||= block.data !== undefined;
        yield stepOf(block);
      }
    } catch (error) {
      if (signal.aborted || !canHeal(error) || (!wasConnected && failures >= maxRetries)) throw error;
      failure = error;
    }
    isHealthy ||= performance.now() - startMs >= healthyMs;
    if (isHealthy) failures = 0;
    // A server that shuts down or a proxy with a time limit ends the stream cleanly: another connection is welcome at once.
    if (isHealthy && failure === undefined) continue;
    failures += 1;
    if (await pause(healingDelay(failure, failures), signal)) return;
  }
}

/** An empty id would lose the place, so it is ignored. */
function stepOf({ id, data }: ServerSentEvent): FeedStep {
  const cursor = id || undefined;
  if (data === undefined) return { cursor };
  if (cursor !== undefined) {
    try {
      return { cursor, event: JSON.parse(data) as WebhookEvent };
    } catch {} // not JSON
  }
  throw new SimplaneError(
    'The stream has an event without an id or JSON, so it is not from the Simplane API.',
  );
}

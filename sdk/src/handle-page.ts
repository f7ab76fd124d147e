import type { CallOperation } from './call.ts';
import { ApiError, ConsumerInUseError } from './errors.ts';
import type { FeedPage, ReadFeed } from './feed.ts';
import { keepTrying } from './keep-trying.ts';
import type { CallOptions } from './transport.ts';
import type { WebhookEvent } from './webhooks.ts';

/** Handles one event. If it throws, the run ends with its error, and the next run begins with this event. */
export type EventHandler<E = WebhookEvent> = (event: E) => unknown;

type Deps = {
  call: CallOperation;
  feed: ReadFeed;
  /** Of the consumer. */
  name: string;
  handler: EventHandler;
  signal: AbortSignal;
};

// A crash repeats at most this much finished work, and the event that was being handled.
const acknowledgeEveryMs = 1_000;
// The last acknowledgment must not hold up a process that is shutting down for long.
const lastChance: CallOptions = { timeoutMs: 10_000 };

/** Handles the events of a page until one fails or the signal aborts, and acknowledges those that are done. */
export async function handlePage(deps: Deps, page: FeedPage): Promise<void> {
  const { handler, signal } = deps;
  const { data } = page;
  let done = 0;
  let acknowledged = 0;
  let acknowledgedMs = performance.now();
  let partial = { done: 0, cursor: '' };

  async function acknowledge(options: CallOptions): Promise<void> {
    if (acknowledged === done && done < data.length) return;
    if (done < data.length && partial.done !== done) {
      partial = { done, cursor: await cursorAfter(deps, data.slice(acknowledged, done), options) };
    }
    await moveTo(deps, done < data.length ? partial.cursor : page.cursor, options);
    acknowledged = done;
    acknowledgedMs = performance.now();
  }

  async function acknowledgePatiently(): Promise<void> {
    try {
      await keepTrying(signal, () => acknowledge({ signal }));
    } catch (error) {
      if (!signal.aborted) throw error;
      await acknowledge(lastChance);
    }
  }

  try {
    for (const event of data) {
      if (signal.aborted) break;
      await handler(event);
      done += 1;
      if (performance.now() - acknowledgedMs >= acknowledgeEveryMs) await acknowledgePatiently();
    }
  } catch (error) {
    await acknowledge(lastChance).catch(() => {}); // the first error says more
    throw error;
  }
  if (acknowledged < data.length || data.length === 0) await acknowledgePatiently();
}

/**
 * A page has one cursor, after its last event. The place after its first events is that of a shorter page. It must be asked
 * for only once: after an acknowledgment whose response was lost, the consumer is no longer at the same place.
 */
async function cursorAfter(
  { feed, name }: Deps,
  events: WebhookEvent[],
  options: CallOptions,
): Promise<string> {
  const page = await feed({ consumer: name, limit: events.length }, options);
  const isSame = page.data.length === events.length && page.data.at(-1)?.id === events.at(-1)?.id;
  if (!isSame) throw inUse(name);
  return page.cursor;
}

async function moveTo({ call, name }: Deps, cursor: string, options: CallOptions): Promise<void> {
  try {
    await call('acknowledgeEvents', { params: { name }, body: { cursor } }, options);
  } catch (error) {
    const isBehind = error instanceof ApiError && error.code === 'cursor_behind';
    throw isBehind ? inUse(name, error) : error;
  }
}

function inUse(name: string, cause?: unknown): ConsumerInUseError {
  return new ConsumerInUseError(
    `Someone else moved the consumer "${name}" during the run. Another program uses the same name, or it was moved with seek: run one program per consumer, and stop it before a seek.`,
    { cause },
  );
}

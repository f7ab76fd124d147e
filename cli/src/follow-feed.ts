import {
  createOperator,
  createSimplane,
  type HookResponse,
  type Simplane,
  type SimplaneOptions,
  type WebhookEvent,
} from '@simplane/sdk';
import { type Command, Option } from 'commander';
import type { Context } from './action.ts';
import { usageError } from './command-error.ts';
import { clean, cleanJson } from './print/clean.ts';
import { type Output, onStdoutClosed } from './print/output.ts';
import { readTime } from './read-time.ts';
import { handleStopSignals } from './stop.ts';

export type PlaceOptions = { since?: number; after?: string };

/** Where to begin. Without them: with the next event. */
export function withPlaceOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--since <time>', 'begin with the events since then: 2h (ago) or 2026-11-15').argParser(
        readTime,
      ),
    )
    .option('--after <place>', 'where to begin: a cursor, start or now (default)');
}

type Follow = PlaceOptions & {
  /** All if omitted. */
  type?: string[];
  /** The operator's feed, instead of the account's. */
  allAccounts?: boolean;
  /** Called when the service has answered: from then on no event is missed. */
  onReady?(): void;
  /** Returns whether the event is done. If not, the place stays before it. */
  handle(event: WebhookEvent, stopped: AbortSignal): Promise<boolean>;
  /** Called at the end with the place after the last event that is done, if there is one. */
  onEnd(cursor: string | null): void;
};

/** Hands over the events one by one until a signal arrives or standard output is closed. */
export async function followFeed({ client, settings, out }: Context, follow: Follow): Promise<void> {
  const { since, after, type, allAccounts } = follow;
  const eventsOf = (options: SimplaneOptions) =>
    (allAccounts ? createOperator : createSimplane)(options).events;
  if (since !== undefined && after !== undefined) throw usageError('Give either --since or --after.');
  const stop = handleStopSignals();
  onStdoutClosed(stop.request);
  const { signal } = stop;
  let cursor: string | null = null;
  try {
    const feedOnce = allAccounts ? eventsOf(settings).feed : client.events.feed;
    const start = await findStart(feedOnce, follow, signal);
    if ('after' in start && start.after !== 'start') cursor = start.after;
    follow.onReady?.();
    const { apiKey, baseUrl } = settings;
    const onResponse = connectionReporter(out, signal);
    // The service has answered, so a stream that cannot be opened is a lost connection.
    const streaming = eventsOf({ apiKey, baseUrl, onResponse, maxRetries: Number.POSITIVE_INFINITY });
    const feed = streaming.follow({ ...start, ...(type && { type }), signal });
    let isDone = true;
    try {
      for await (const event of feed) {
        isDone = false;
        isDone = await follow.handle(event, signal);
        if (!isDone) break;
        cursor = feed.cursor ?? cursor;
      }
    } finally {
      // While no event comes, the feed's own cursor moves past those of other types.
      if (isDone) cursor = feed.cursor ?? cursor;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    follow.onEnd(cursor);
  }
}

/**
 * Asks for one page before the stream is opened: a wrong address, key or cursor ends the command at once, and `now` becomes
 * a cursor, so that a connection lost before the first event loses nothing.
 */
async function findStart(
  feed: Simplane['events']['feed'],
  { since, after = 'now', type }: Follow,
  signal: AbortSignal,
) {
  const start = since === undefined ? { after } : { since };
  const { cursor } = await feed({ ...start, ...(type && { type }), limit: 1 }, { signal });
  return start.after === 'now' ? { after: cursor } : start;
}

/** Reports when the service does not answer a reconnect, and when it does again. Proxies end streams often; that is no news. */
function connectionReporter(out: Output, stopped: AbortSignal) {
  let isLost = false;
  return ({ status, error }: HookResponse) => {
    const isDown = status === undefined || status >= 500 || status === 429;
    if (isDown === isLost || stopped.aborted) return;
    isLost = isDown;
    const reason = status === undefined ? reasonOf(error) : `status ${status}`;
    if (out.isJson)
      out.error(cleanJson(isDown ? { object: 'disconnected', reason } : { object: 'reconnected' }));
    else
      out.note(
        isDown ? `Connection lost: ${clean(reason)}. Trying again.` : 'Connected again; no event was missed.',
      );
  };
}

/** `fetch` puts the reason in the error's cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string }; message?: string };
  return cause?.code ?? message ?? 'no answer';
}

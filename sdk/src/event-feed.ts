import type { BodyOf, CallOperation, QueryOf } from './call.ts';
import type { Connection } from './connection.ts';
import { createFeed, type ReadFeed } from './feed.ts';
import { type FollowedEvents, type FollowOptions, followEvents } from './follow-events.ts';
import type { EventHandler } from './handle-page.ts';
import { createList } from './list.ts';
import { createStreamOpener } from './open-event-stream.ts';
import { type RunOptions, runConsumer } from './run-consumer.ts';
import type { CallOptions } from './transport.ts';
import type { WebhookEvent } from './webhooks.ts';

/** The feed of an account, or with the operator's `call` and `base`, that of the deployment. */
export function feedOf<E extends WebhookEvent = WebhookEvent>(
  call: CallOperation,
  connection: Connection,
  maxRetries = 4,
  base?: string,
) {
  const deps = { feed: createFeed(call), openStream: createStreamOpener(connection, base), maxRetries };
  return {
    /** Reads the event feed from `after` on, oldest first. With `wait`, the server waits for an event if there is none yet. */
    feed: deps.feed as ReadFeed<E>,
    /** Follows the event feed with `for await`, across lost connections: every event once and in order. */
    follow: (options: FollowOptions = {}) => followEvents(deps, options) as FollowedEvents<E>,
  };
}

/** The consumers of an account, or with the operator's `call`, those of the deployment. */
export function consumersOf<E extends WebhookEvent = WebhookEvent>(call: CallOperation) {
  return {
    /** Creates a consumer at `after` (default `now`), or returns the one with this name unchanged. */
    create: (name: string, body: BodyOf<'putEventConsumer'> = {}, options?: CallOptions) =>
      call('putEventConsumer', { params: { name }, body }, options),
    list: (query?: QueryOf<'listEventConsumers'>, options?: CallOptions) =>
      createList(query, (query) => call('listEventConsumers', { query }, options)),
    get: (name: string, options?: CallOptions) => call('getEventConsumer', { params: { name } }, options),
    delete: (name: string, options?: CallOptions) =>
      call('deleteEventConsumer', { params: { name } }, options),
    /** Moves the consumer forward to `cursor`: everything up to there is done. */
    ack: (name: string, body: BodyOf<'acknowledgeEvents'>, options?: CallOptions) =>
      call('acknowledgeEvents', { params: { name }, body }, options),
    /** Moves the consumer to any place, back or forward. */
    seek: (name: string, body: BodyOf<'seekEventConsumer'>, options?: CallOptions) =>
      call('seekEventConsumer', { params: { name }, body }, options),
    run: runner<E>(call),
  };
}

function runner<E extends WebhookEvent>(call: CallOperation) {
  const deps = { call, feed: createFeed(call) };
  /**
   * Handles the events of a consumer one at a time and in order, and acknowledges them after the handler. Creates the consumer
   * if there is none with this name. Ends when `signal` aborts, or with the error of the handler.
   */
  return (name: string, handler: EventHandler<E>, options?: RunOptions) =>
    runConsumer(deps, name, handler as EventHandler, options);
}

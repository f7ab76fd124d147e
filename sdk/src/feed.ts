import type { Call, CallOperation, QueryOf } from './call.ts';
import type { Operations } from './generated.ts';
import type { CallOptions } from './transport.ts';
import type { WebhookEvent } from './webhooks.ts';

/** Events in their final order, and your place after them. `switch` on `type` to narrow `data`. */
export type FeedPage<E = WebhookEvent> = Omit<Operations['readEventFeed']['result'], 'data'> & { data: E[] };

/** An event of any account. `account_id` is null if it is about the deployment itself. */
export type OperatorWebhookEvent = WebhookEvent & { account_id: string | null };

export type ReadFeed<E = WebhookEvent> = (
  query?: QueryOf<'readEventFeed'>,
  options?: CallOptions,
) => Call<FeedPage<E>>;

export function createFeed(call: CallOperation): ReadFeed {
  return (query, options) => call('readEventFeed', { query }, options) as Call<FeedPage>;
}

import type { Call, CallOperation, QueryOf } from './call.ts';
import type { Operations } from './generated.ts';
import type { CallOptions } from './transport.ts';
import type { WebhookEvent } from './webhooks.ts';

/** Events in their final order, and your place after them. `switch` on `type` to narrow `data`. */
export type FeedPage = Omit<Operations['readEventFeed']['result'], 'data'> & { data: WebhookEvent[] };

export type ReadFeed = (query?: QueryOf<'readEventFeed'>, options?: CallOptions) => Call<FeedPage>;

export function createFeed(call: CallOperation): ReadFeed {
  return (query, options) => call('readEventFeed', { query }, options) as Call<FeedPage>;
}

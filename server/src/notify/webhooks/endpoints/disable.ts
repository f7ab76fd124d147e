import type { Clock } from '../../../platform/clock.ts';
import type { Database, Queryable } from '../../../platform/db/database.ts';
import type { NewUuid } from '../../../platform/ids/uuid-v7.ts';
import { emit } from '../../events/emit.ts';
import { newEvent } from '../../events/new-event.ts';
import { aboutEndpoint } from './present.ts';
import { cancelPendingDeliveries, cancelUndeliverableRows } from './sql/cancel.ts';
import { disableEndpointRow, disableEndpointsOf, type EndpointKey } from './sql/endpoints.ts';

type Disable = EndpointKey & { reason: string; at: Date };

/**
 * Disables a failing endpoint, cancels its pending deliveries and notifies the account's other enabled endpoints.
 * Returns false, with nothing changed, if it was disabled or deleted or has recovered meanwhile.
 */
export async function disableEndpoint(
  tx: Queryable,
  { accountUuid, endpointUuid, reason, at }: Disable,
  deps: { newUuid: NewUuid },
): Promise<boolean> {
  const key = { accountUuid, endpointUuid };
  const endpoint = await disableEndpointRow(tx, key, { reason, at });
  if (!endpoint) return false;
  await cancelPendingDeliveries(tx, key, at);
  const data = { ...aboutEndpoint(endpoint), disabled_reason: reason };
  await emit(tx, [newEvent(deps, { accountUuid, type: 'webhook_endpoint.disabled', data })]);
  return true;
}

/** Of an account that is closed. Nobody is left to be told, and a chore cancels what waits. */
export function disableEndpoints(tx: Queryable, accountUuid: string, at: Date): Promise<void> {
  return disableEndpointsOf(tx, accountUuid, { reason: 'The account was closed.', at });
}

/**
 * Cancels pending deliveries of disabled and deleted endpoints that `cancelPendingDeliveries` skipped: the rest of a large backlog,
 * deliveries being sent at that moment, and deliveries of events committed concurrently.
 */
export async function cancelUndeliverable(db: Database, clock: Clock, stopping?: AbortSignal): Promise<void> {
  // Blocked ones first, because they may move to the queue meanwhile.
  for (const table of ['blocked_deliveries', 'delivery_queue'] as const) {
    let mayHaveMore = true;
    while (mayHaveMore && !stopping?.aborted) {
      ({ mayHaveMore } = await cancelUndeliverableRows(db, table, new Date(clock.nowMs())));
    }
  }
}

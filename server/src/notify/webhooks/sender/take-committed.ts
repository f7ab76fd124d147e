import type { Place } from '../../../platform/worker/work-queue.ts';
import type { Committed, QueuedDelivery } from '../../events/hand-over.ts';
import type { Parts } from './parts.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';

type Deps = Parts & {
  timeoutMs: number;
  /** For a held delivery of a proven endpoint. It releases its slot. */
  reserve(): Place<ClaimedDelivery> | null;
};

/**
 * Takes deliveries of events that this process has just committed, if it could claim them now: their endpoint is leased, works, has
 * room, and has not changed since the last claim. Returns whether it took all of the event's; a claim finds the others.
 */
export function createCommittedTaker({
  clock,
  isFresh,
  timeoutMs,
  slots,
  lanes,
  claims,
  ready,
  reserve,
}: Deps) {
  function held({ event, isTest, sentAtMs }: Committed, queued: QueuedDelivery): ClaimedDelivery | null {
    const { endpoint_id: endpointUuid } = queued;
    const lease = claims.leaseFor(endpointUuid, sentAtMs);
    if (!lease || lease.target.version !== queued.endpoint_version) return null;
    const { url, secrets, secretsUntil } = lease.target;
    if (secretsUntil !== null && secretsUntil.getTime() <= clock.nowMs()) return null;
    return {
      account_id: event.accountUuid,
      id: queued.delivery_id,
      event_id: queued.event_id,
      endpoint_id: endpointUuid,
      attempt_count: 0,
      order_key: null,
      fence: lease.fence,
      is_test: isTest,
      body: event.body,
      url,
      secrets,
    };
  }

  function hasRoom({ endpoint_id: endpointUuid, account_id: accountUuid }: ClaimedDelivery): boolean {
    const isNext = lanes.standingOf(endpointUuid) === 'proven' && !ready.has(endpointUuid);
    return isNext && lanes.isOpen(endpointUuid) && slots.proven.availableTo(accountUuid) > 0;
  }

  function take(committed: Committed, queued: QueuedDelivery): boolean {
    const delivery = held(committed, queued);
    if (!delivery || !claims.isLeased(delivery, timeoutMs) || !hasRoom(delivery)) return false;
    const place = reserve();
    if (!place) return false;
    claims.holdQueued(delivery);
    lanes.claimed(delivery.endpoint_id, delivery.account_id);
    slots.proven.acquire(delivery.account_id, 1);
    place.run(delivery);
    return true;
  }

  return (committed: Committed): boolean =>
    isFresh() && committed.deliveries.filter((queued) => !take(committed, queued)).length === 0;
}

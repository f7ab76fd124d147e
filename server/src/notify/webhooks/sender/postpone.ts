import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import type { UnreadableSecret } from '../../../platform/secrets/keyring.ts';
import type { Unsent } from './attempt.ts';
import { dropOnceStored } from './endpoint-claims.ts';
import type { Parts } from './parts.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';
import { endLeases, postponeDelivery } from './sql/leases.ts';

// Retry interval for a delivery whose endpoint's secret cannot be opened.
const unreadablePauseMs = 60_000;
// The pause when sending is impossible and the endpoint is not to blame; such conditions are usually brief.
const unsentPauseMs = 1_000;
// Longer than the scan interval of other processes, so that one of them finds the endpoint first.
const avoidMs = 3_000;
const faultReportIntervalMs = 10_000;

export type Postpone = ReturnType<typeof createPostpone>;

/** Releases a delivery that was not sent while its endpoint is not to blame: records neither an attempt nor a failure. */
export function createPostpone({ db, holder, leaseMs, lanes, claims, ready, onError }: Parts) {
  let faultReportedAtMs = Number.NEGATIVE_INFINITY;

  /** The fault is in this process, so another process may be able to send to the endpoint. */
  function avoidEndpoint(endpointUuid: string): void {
    if (claims.avoid(endpointUuid, avoidMs)) endLeases(db, holder, [endpointUuid]).catch(onError);
  }

  return {
    unsent(delivery: ClaimedDelivery, { unsent, isFault }: Unsent): void {
      const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
      lanes.postponed(endpointUuid, unsentPauseMs);
      claims.release(delivery);
      ready.addLater(endpointUuid, accountUuid, unsentPauseMs);
      if (isFault) avoidEndpoint(endpointUuid);
      if (!isFault || performance.now() - faultReportedAtMs < faultReportIntervalMs) return;
      faultReportedAtMs = performance.now();
      onError(new Error(`webhooks cannot be sent: ${unsent}`));
    },
    /**
     * The endpoint's secret cannot be opened. Deliveries wait until it is repaired or rotated; meanwhile the lane pauses as after a
     * failure.
     */
    async unreadable(delivery: ClaimedDelivery, error: UnreadableSecret): Promise<void> {
      lanes.finished(delivery.endpoint_id, false);
      const postponing = postponeDelivery(db, delivery, unreadablePauseMs);
      await dropOnceStored(claims, delivery, postponing, leaseMs);
      avoidEndpoint(delivery.endpoint_id);
      onError(error, {
        webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, delivery.endpoint_id),
        delivery_id: idOfUuid(idPrefixes.delivery, delivery.id),
      });
    },
  };
}

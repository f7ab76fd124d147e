import { UnreadableSecret } from '../../../platform/secrets/keyring.ts';
import type { AttemptResult, Unsent } from './attempt.ts';
import { releaseAfter } from './endpoint-claims.ts';
import type { Parts } from './parts.ts';
import type { Postpone } from './postpone.ts';
import type { RecordResult } from './record-result.ts';
import { resolveHost, type SendOptions, send } from './send.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';

type Deps = Parts & SendOptions & { recordResult: RecordResult; postpone: Postpone };

/** One attempt of a claimed delivery, from waiting for the endpoint to recording the result or releasing the delivery. */
export function createDeliveryRunner(deps: Deps) {
  const { clock, timeoutMs, leaseMs, isFresh, lanes, claims, ready, recordResult, postpone } = deps;

  /** Nothing was sent, or it was canceled on our side: a later claim finds the delivery again. */
  function giveBack(delivery: ClaimedDelivery): void {
    lanes.released(delivery.endpoint_id);
    claims.release(delivery);
  }

  return async (delivery: ClaimedDelivery, stopping: AbortSignal, isUrgent: boolean): Promise<void> => {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    const slot = lanes.acquireSlot(endpointUuid, isUrgent);
    if (slot !== true && !(await slot)) return claims.release(delivery);
    const startedAtMs = clock.nowMs();
    let result: AttemptResult | Unsent;
    try {
      const lookup = resolveHost(deps, delivery, stopping);
      const found = lookup instanceof Promise ? await lookup : lookup; // saves a promise per delivery
      if (!isFresh() || !claims.isLeased(delivery, timeoutMs)) {
        giveBack(delivery);
        return ready.add(endpointUuid, accountUuid);
      }
      result = 'addresses' in found ? await send(deps, delivery, found.addresses, stopping) : found;
    } catch (error) {
      if (error instanceof UnreadableSecret) return postpone.unreadable(delivery, error);
      lanes.released(endpointUuid);
      releaseAfter(claims, delivery, leaseMs);
      throw error;
    }
    if ('unsent' in result) return postpone.unsent(delivery, result);
    if (stopping.aborted && !result.ok) return giveBack(delivery);
    return recordResult(delivery, result, startedAtMs);
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { DueEndpoints } from './due-endpoints.ts';
import type { Parts } from './parts.ts';
import type { Chosen, QueueName } from './ready-endpoints.ts';
import { type ClaimedDelivery, claimDeliveries, claimNamed } from './sql/claim-deliveries.ts';

type Deps = Parts & {
  /** A lease is renewed when it has less than this left. */
  renewBelowMs: number;
  /** The clock for lease ages. */
  monotonicMs(): number;
  due: DueEndpoints;
};

// Rate limit: unproven endpoints share 40 attempts a second. With 1,000 new endpoints and no limit, a healthy endpoint's p99 was
// 20 to 120 times its p99 alone; at 80 a second 1.8 and 2.3 times, at 40 a second 1.7 and 1.7 (two runs each).
const unprovenClaimIntervalMs = 50;
const unprovenPerClaim = 2;

/** Claims deliveries of the endpoints that are next, for each queue. */
export function createClaimer(deps: Deps): Record<QueueName, (count: number) => Promise<ClaimedDelivery[]>> {
  const { ready, due, wake, isFresh } = deps;
  let unprovenClaimedAtMs = Number.NEGATIVE_INFINITY;

  async function claimUnproven(count: number): Promise<ClaimedDelivery[]> {
    await sleep(Math.max(0, unprovenClaimedAtMs + unprovenClaimIntervalMs - performance.now()));
    unprovenClaimedAtMs = performance.now();
    if (!isFresh()) return [];
    await due.find();
    const chosen = ready.take.unproven(Math.min(count, unprovenPerClaim));
    try {
      return await claim(deps, chosen, 'unproven');
    } finally {
      // Terminates, because endpoints with nothing due have left the queue.
      if (chosen.length > 0) wake.unproven();
      else due.findLater();
    }
  }

  return {
    proven: async (count) => (isFresh() ? claim(deps, ready.take.proven(count), 'proven') : []),
    unproven: claimUnproven,
    urgent: async (count) => (isFresh() ? claim(deps, ready.take.urgent(count), 'urgent') : []),
  };
}

/** Slots acquired for deliveries that turn out not to exist are released. */
async function claim(deps: Deps, chosen: Chosen[], queue: QueueName): Promise<ClaimedDelivery[]> {
  if (chosen.length === 0) return [];
  const { slots, claims, ready, wake } = deps;
  const claimedCounts = new Map<string, number>();
  try {
    return await take(deps, chosen, claimedCounts);
  } catch (error) {
    for (const { endpointUuid } of chosen) claims.abort(endpointUuid);
    throw error;
  } finally {
    for (const { endpointUuid, accountUuid, slots: acquired } of chosen) {
      const unused = acquired - (claimedCounts.get(endpointUuid) ?? 0);
      if (unused > 0) slots[queue].release(accountUuid, unused);
      else ready.add(endpointUuid, accountUuid); // it may have more
      // It may have been woken during the claim.
      if (ready.has(endpointUuid)) {
        wake.proven();
        wake.unproven();
      }
    }
    if (ready.hasUrgent()) wake.urgent();
  }
}

async function take(
  { db, clock, holder, leaseMs, renewBelowMs, monotonicMs, lanes, claims }: Deps,
  chosen: Chosen[],
  claimedCounts: Map<string, number>,
): Promise<ClaimedDelivery[]> {
  const now = new Date(clock.nowMs());
  const heldUuids: string[] = [];
  const wanted = chosen.map(({ endpointUuid, accountUuid, slots }) => {
    const position = claims.begin(endpointUuid);
    heldUuids.push(...position.heldUuids);
    return { endpointUuid, accountUuid, slots, afterUuid: position.afterUuid };
  });
  const deliveryUuids = chosen.flatMap((one) => one.deliveryUuids ?? []);
  const isNamed = deliveryUuids.length > 0;
  const sentAtMs = monotonicMs(); // the leases start slightly later
  const request = { wanted, heldUuids, holder, leaseMs, renewBelowMs, now };
  const claimed = await (isNamed ? claimNamed(db, request, deliveryUuids) : claimDeliveries(db, request));
  for (const delivery of claimed.deliveries) {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    claimedCounts.set(endpointUuid, (claimedCounts.get(endpointUuid) ?? 0) + 1);
    claims.hold(delivery);
    lanes.claimed(endpointUuid, accountUuid);
  }
  const leases = new Map(claimed.leases.map((lease) => [lease.endpointUuid, lease]));
  for (const { endpointUuid, slots, afterUuid } of wanted) {
    const lease = leases.get(endpointUuid) ?? null;
    claims.end(endpointUuid, { lease, sentAtMs, isFull: claimedCounts.get(endpointUuid) === slots });
    // Deliveries before the named ones were not taken.
    if (isNamed && lease) claims.lookFrom(endpointUuid, afterUuid);
  }
  return claimed.deliveries;
}

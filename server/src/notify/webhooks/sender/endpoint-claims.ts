import { lowestUuid, lowestUuidAt, unixMsOf } from '../../../platform/ids/uuid-range.ts';
import type { ClaimedDelivery, EndpointLease, Target } from './sql/claim-deliveries.ts';

/** This process's claim on one endpoint. */
type EndpointClaim = {
  lease: { fence: number; endsAtMs: number; target: Target } | null;
  /** Claimed deliveries without a stored result, with their number of attempts. */
  held: Map<string, number>;
  /** The last claim took the deliveries without an attempt up to this id. */
  position: string;
  /** The highest id ever taken. */
  highest: string;
  start: 'beginning' | 'look back' | 'position';
  /** The next claim starts no later than here. */
  from: string | null;
  lookedBackAtMs: number;
  isClaiming: boolean;
  /** When the last claim ended. */
  claimedAtMs: number;
  /** Another process holds the lease. */
  isRefused: boolean;
  /** This process cannot send to the endpoint at the moment, and does not claim it until then. */
  avoidedUntilMs: number;
  usedAtMs: number;
};

type Position = { afterUuid: string; heldUuids: string[] };

// Ids begin with their millisecond, but may commit out of order. The fallback scan finds those that commit even later.
const lookBackMs = 1_000;
// With a backlog, claims mostly move forward: looking back reads over sent deliveries that are not yet vacuumed.
const lookBackIntervalMs = 250;
const idleAfterMs = 60_000;

export type EndpointClaims = ReturnType<typeof createEndpointClaims>;

/**
 * Tracks endpoint leases and the deliveries that this process holds. Queue rows do not record a holder, so each claim excludes
 * the held deliveries and starts after the last one taken.
 */
export function createEndpointClaims(monotonicMs: () => number, wallMs: () => number = Date.now) {
  const claims = new Map<string, EndpointClaim>();

  function claimOf(endpointUuid: string): EndpointClaim {
    const known = claims.get(endpointUuid);
    if (known) return known;
    const claim = newClaim(monotonicMs());
    claims.set(endpointUuid, claim);
    return claim;
  }

  return {
    /** False while a claim runs, because a concurrent one would take the same deliveries again, and while the endpoint is avoided. */
    mayClaim(endpointUuid: string): boolean {
      const claim = claims.get(endpointUuid);
      return !claim || (!claim.isClaiming && monotonicMs() >= claim.avoidedUntilMs);
    },

    /** Begins a claim. Returns the id it starts after, and the deliveries it must exclude. */
    begin(endpointUuid: string): Position {
      const claim = claimOf(endpointUuid);
      claim.isClaiming = true;
      claim.usedAtMs = monotonicMs();
      const afterUuid = afterOf(claim, wallMs());
      if (afterUuid !== claim.position) claim.lookedBackAtMs = claim.usedAtMs;
      claim.position = afterUuid;
      claim.start = 'position';
      claim.from = null;
      return { afterUuid, heldUuids: [...claim.held.keys()] };
    },

    /** Ends the claim. Without a lease, another process holds the endpoint or it is not enabled. */
    end(
      endpointUuid: string,
      { lease, sentAtMs, isFull }: { lease: EndpointLease | null; sentAtMs: number; isFull: boolean },
    ): void {
      const claim = claimOf(endpointUuid);
      claim.isClaiming = false;
      claim.claimedAtMs = monotonicMs();
      claim.isRefused = lease === null;
      claim.lease = lease && { fence: lease.fence, endsAtMs: sentAtMs + lease.leftMs, target: lease.target };
      if (!isFull && claim.start === 'position') claim.start = 'look back';
    },

    /** The claim failed. */
    abort(endpointUuid: string): void {
      const claim = claimOf(endpointUuid);
      claim.isClaiming = false;
      claim.claimedAtMs = monotonicMs();
      claim.start = 'look back';
    },

    hold({ endpoint_id: endpointUuid, id, attempt_count }: ClaimedDelivery): void {
      const claim = claimOf(endpointUuid);
      claim.held.set(id, attempt_count);
      if (attempt_count > 0) return;
      claim.position = id;
      if (id > claim.highest) claim.highest = id;
    },

    /**
     * The lease under which a delivery can be sent that was queued by a statement sent at this time, without a claim. Null while others
     * may wait before it, or if a claim may have found it already.
     */
    leaseFor(endpointUuid: string, sentAtMs: number): { fence: number; target: Target } | null {
      const claim = claims.get(endpointUuid);
      if (!claim?.lease || claim.claimedAtMs >= sentAtMs) return null;
      const { start, from, avoidedUntilMs } = claim;
      // While a claim runs, it starts at its position.
      return start === 'look back' && from === null && monotonicMs() >= avoidedUntilMs ? claim.lease : null;
    },

    /** Holds a delivery that no claim has found. */
    holdQueued({ endpoint_id: endpointUuid, id }: ClaimedDelivery): void {
      const claim = claimOf(endpointUuid);
      claim.held.set(id, 0);
      claim.usedAtMs = monotonicMs();
      if (id > claim.highest) claim.highest = id;
    },

    /** The delivery's result is stored. */
    drop({ endpoint_id: endpointUuid, id, attempt_count }: ClaimedDelivery): void {
      const { held } = claimOf(endpointUuid);
      if (held.get(id) === attempt_count) held.delete(id); // else a later attempt is held
    },

    /** The delivery was not sent, or its result not stored: a later claim finds it again. */
    release({ endpoint_id: endpointUuid, id, attempt_count }: ClaimedDelivery): void {
      const claim = claimOf(endpointUuid);
      if (claim.held.get(id) !== attempt_count) return; // a later attempt is held
      claim.held.delete(id);
      if (attempt_count === 0 && (claim.from === null || id < claim.from)) claim.from = before(id, 1);
    },

    /** Whether an attempt that takes `forMs` would end within the lease. */
    isLeased({ endpoint_id: endpointUuid, fence }: ClaimedDelivery, forMs: number): boolean {
      const lease = claims.get(endpointUuid)?.lease;
      return lease?.fence === fence && monotonicMs() + forMs <= lease.endsAtMs;
    },

    isRefused: (endpointUuid: string): boolean => claims.get(endpointUuid)?.isRefused === true,

    /** The next claim starts from the beginning, because the position of a due delivery is unknown. */
    restart(endpointUuid: string): void {
      const claim = claimOf(endpointUuid);
      claim.start = 'beginning';
      claim.isRefused = false;
    },

    /** The next claim starts at this id or before, because a delivery is due there. */
    lookFrom(endpointUuid: string, uuid: string): void {
      const claim = claimOf(endpointUuid);
      claim.isRefused = false;
      if (claim.from === null || uuid < claim.from) claim.from = uuid;
    },

    /** Claims nothing of the endpoint for a while. Returns true if none of its deliveries is held, so that its lease can end. */
    avoid(endpointUuid: string, forMs: number): boolean {
      const claim = claimOf(endpointUuid);
      claim.avoidedUntilMs = monotonicMs() + forMs;
      return claim.held.size === 0;
    },

    /** Nothing more is sent without a new lease. */
    forgetLeases(): void {
      for (const claim of claims.values()) claim.lease = null;
    },

    forgetIdle(): void {
      const nowMs = monotonicMs();
      for (const [endpointUuid, { held, isClaiming, lease, usedAtMs }] of claims) {
        const isBusy = held.size > 0 || isClaiming || (lease && lease.endsAtMs >= nowMs);
        if (!isBusy && usedAtMs < nowMs - idleAfterMs) claims.delete(endpointUuid);
      }
    },

    /** Endpoints that this process may have leased and of which it holds no delivery. */
    idleEndpoints(): string[] {
      const endpointUuids: string[] = [];
      for (const [endpointUuid, { held, isClaiming }] of claims) {
        if (held.size === 0 && !isClaiming) endpointUuids.push(endpointUuid);
      }
      return endpointUuids;
    },
  };
}

function newClaim(nowMs: number): EndpointClaim {
  return {
    lease: null,
    held: new Map(),
    position: lowestUuid,
    highest: lowestUuid,
    start: 'beginning',
    from: null,
    avoidedUntilMs: Number.NEGATIVE_INFINITY,
    lookedBackAtMs: Number.NEGATIVE_INFINITY,
    isClaiming: false,
    claimedAtMs: Number.NEGATIVE_INFINITY,
    isRefused: false,
    usedAtMs: nowMs,
  };
}

/** The id after which the next claim looks. */
function afterOf(claim: EndpointClaim, wallMs: number): string {
  if (claim.start === 'beginning') return lowestUuid;
  const { position, highest, start, from } = claim;
  // After an id from a clock that is ahead, ids from other clocks must still be found.
  const now = lowestUuidAt(wallMs);
  const recent = before(highest < now ? highest : now, lookBackMs);
  let after = start === 'look back' ? recent : position;
  if (claim.usedAtMs - claim.lookedBackAtMs >= lookBackIntervalMs && recent < after) after = recent;
  return from !== null && from < after ? from : after;
}

/** The lowest id of the millisecond `ms` before the given id's. */
function before(uuid: string, ms: number): string {
  return lowestUuidAt(unixMsOf(uuid) - ms);
}

/** Drops the delivery once its result is stored. After an error it is unknown whether it was, so the delivery is held for a lease. */
export async function dropOnceStored<T>(
  claims: Pick<EndpointClaims, 'drop' | 'release'>,
  delivery: ClaimedDelivery,
  storing: Promise<T>,
  leaseMs: number,
): Promise<T> {
  try {
    const stored = await storing;
    claims.drop(delivery);
    return stored;
  } catch (error) {
    releaseAfter(claims, delivery, leaseMs);
    throw error;
  }
}

export function releaseAfter(
  claims: Pick<EndpointClaims, 'release'>,
  delivery: ClaimedDelivery,
  delayMs: number,
): void {
  setTimeout(() => claims.release(delivery), delayMs).unref();
}

/** How an endpoint's last attempt ended; `untried` when there was none. */
export type Standing = 'untried' | 'proven' | 'failing';

/** What this process knows about an endpoint it sends to. */
type Lane = {
  /** Deliveries claimed and not yet finished. */
  held: number;
  /** Held deliveries being sent now. */
  inFlight: number;
  /** Held deliveries waiting for a slot, in claim order. */
  waiting: ((mayBeSent: boolean) => void)[];
  concurrency: number;
  standing: Standing;
  /** Whether this process itself has seen an attempt succeed or fail. */
  isTried: boolean;
  pausedUntilMs: number;
  pauseMs: number;
  usedAtMs: number;
};

const maxConcurrency = 64;
// At full concurrency as many deliveries wait as are in flight, so slots stay busy during the next claim.
const heldPerSlot = 2;
// Claims at least a quarter of the lane at once: a claim of one delivery costs as much.
const refillDivisor = 4;
const minPauseMs = 250;
// Longest wait after a receiver recovers.
const maxPauseMs = 5_000;
const idleAfterMs = 60_000;

export type Lanes = ReturnType<typeof createLanes>;

function maxHeldBy({ concurrency }: Lane): number {
  return concurrency === maxConcurrency ? maxConcurrency * heldPerSlot : concurrency;
}

/**
 * Isolates endpoints, so a dead or slow one never delays another. An endpoint starts with one delivery in flight. Each success
 * doubles its concurrency; a failure resets it to one, rejects the waiting deliveries and pauses the lane, longer each time.
 */
export function createLanes(monotonicMs: () => number = () => performance.now()) {
  const lanes = new Map<string, Lane>();
  const busy = new Map<string, Set<string>>();

  function laneOf(endpointUuid: string): Lane {
    const known = lanes.get(endpointUuid);
    if (known) return known;
    const lane: Lane = {
      held: 0,
      inFlight: 0,
      waiting: [],
      concurrency: 1,
      standing: 'untried',
      isTried: false,
      pausedUntilMs: 0,
      pauseMs: 0,
      usedAtMs: monotonicMs(),
    };
    lanes.set(endpointUuid, lane);
    return lane;
  }

  function startWaiting(lane: Lane): void {
    while (lane.inFlight < lane.concurrency) {
      const next = lane.waiting.shift();
      if (!next) return;
      lane.inFlight += 1;
      next(true);
    }
  }

  function rejectWaiting(lane: Lane): void {
    lane.held -= lane.waiting.length;
    for (const resolve of lane.waiting.splice(0)) resolve(false);
  }

  return {
    standingOf: (endpointUuid: string): Standing => laneOf(endpointUuid).standing,

    /** Takes over the standing from the database, unless this process has already seen an attempt. */
    learn(endpointUuid: string, standing: Standing): void {
      const lane = laneOf(endpointUuid);
      if (!lane.isTried) lane.standing = standing;
    },

    /** How many deliveries may be claimed now; 0 while the lane is full, nearly full or paused. */
    roomFor(endpointUuid: string): number {
      const lane = laneOf(endpointUuid);
      const maxHeld = maxHeldBy(lane);
      const room = maxHeld - lane.held;
      return room < maxHeld / refillDivisor || monotonicMs() < lane.pausedUntilMs ? 0 : room;
    },

    /** Whether one more delivery may be held. */
    isOpen(endpointUuid: string): boolean {
      const lane = laneOf(endpointUuid);
      return lane.held < maxHeldBy(lane) && monotonicMs() >= lane.pausedUntilMs;
    },

    claimed(endpointUuid: string, accountUuid: string): void {
      const lane = laneOf(endpointUuid);
      lane.held += 1;
      lane.usedAtMs = monotonicMs();
      const endpoints = busy.get(accountUuid);
      if (endpoints) endpoints.add(endpointUuid);
      else busy.set(accountUuid, new Set([endpointUuid]));
    },

    /**
     * Waits until a claimed delivery may be sent; an urgent one never waits. False: release its claim. End with `finished`,
     * `released` or `postponed`.
     */
    acquireSlot(endpointUuid: string, isUrgent = false): true | Promise<boolean> {
      const lane = laneOf(endpointUuid);
      const isFull = lane.inFlight >= lane.concurrency;
      if (isFull && !isUrgent) return new Promise((resolve) => lane.waiting.push(resolve));
      lane.inFlight += 1;
      return true;
    },

    /** Returns how long the endpoint is paused. */
    finished(endpointUuid: string, ok: boolean): number {
      const lane = laneOf(endpointUuid);
      lane.held -= 1;
      lane.inFlight -= 1;
      lane.standing = ok ? 'proven' : 'failing';
      lane.isTried = true;
      lane.pauseMs = ok ? 0 : Math.min(maxPauseMs, Math.max(minPauseMs, lane.pauseMs * 2));
      lane.concurrency = ok ? Math.min(maxConcurrency, lane.concurrency * 2) : 1;
      lane.usedAtMs = monotonicMs();
      lane.pausedUntilMs = lane.usedAtMs + lane.pauseMs;
      if (ok) startWaiting(lane);
      else rejectWaiting(lane);
      return lane.pauseMs;
    },

    /** The attempt was canceled on our side: the endpoint's standing stays as it is. */
    released(endpointUuid: string): void {
      const lane = laneOf(endpointUuid);
      lane.held -= 1;
      lane.inFlight -= 1;
      startWaiting(lane);
    },

    /** Nothing was sent and the endpoint is not to blame: pauses the lane, rejects waiting deliveries, keeps the standing. */
    postponed(endpointUuid: string, pauseMs: number): void {
      const lane = laneOf(endpointUuid);
      lane.held -= 1;
      lane.inFlight -= 1;
      lane.pausedUntilMs = monotonicMs() + pauseMs;
      rejectWaiting(lane);
    },

    /** Its owner enabled it: ends the pause after failures and forgets them. False if there were none. */
    enabled(endpointUuid: string): boolean {
      const lane = lanes.get(endpointUuid);
      if (lane?.standing !== 'failing') return false;
      lane.standing = 'untried';
      lane.isTried = false;
      lane.pauseMs = 0;
      lane.pausedUntilMs = 0;
      lane.concurrency = lane.inFlight + 1; // the first event must not wait for an attempt that hangs
      return true;
    },

    /** The account's proven endpoints with recent deliveries. */
    *busyOf(accountUuid: string): Iterable<string> {
      for (const endpointUuid of busy.get(accountUuid) ?? []) {
        if (lanes.get(endpointUuid)?.standing === 'proven') yield endpointUuid;
      }
    },

    /** Drops idle lanes, so deleted endpoints don't accumulate. */
    forgetIdle(): void {
      const before = monotonicMs() - idleAfterMs;
      for (const [endpointUuid, lane] of lanes) {
        if (lane.held === 0 && lane.usedAtMs < before) lanes.delete(endpointUuid);
      }
      for (const [accountUuid, endpoints] of busy) {
        for (const endpointUuid of endpoints) if (!lanes.has(endpointUuid)) endpoints.delete(endpointUuid);
        if (endpoints.size === 0) busy.delete(accountUuid);
      }
    },
  };
}

/** What this process knows of an endpoint it sends to. */
type Lane = {
  inFlight: number;
  cap: number;
  isProven: boolean;
  /** Whether this process has seen it succeed or fail itself. */
  isTried: boolean;
  notBeforeMs: number;
  pauseMs: number;
  usedAtMs: number;
};

export type Lanes = {
  isProven(endpointUuid: string): boolean;
  /** What the database remembers counts until this process has its own experience. */
  learn(endpointUuid: string, isProven: boolean): void;
  /** How many deliveries may be claimed for it now; 0 when it is full, or nearly, or resting. */
  roomFor(endpointUuid: string): number;
  started(endpointUuid: string, accountUuid: string): void;
  /** Tells how long it has to rest. */
  finished(endpointUuid: string, ok: boolean): number;
  /** An attempt that says nothing about the endpoint: it was cut off by us. */
  released(endpointUuid: string): void;
  /** The proven endpoints of an account that were sent to just now. */
  busyOf(accountUuid: string): Iterable<string>;
  /** So that endpoints that are gone do not pile up. */
  forgetIdle(): void;
};

const highestCap = 64;
// An endpoint that is kept busy is refilled a quarter of its places at a time, not one by one: a claim costs the same.
const refillShare = 4;
const firstPauseMs = 250;
// What a receiver that was just mended waits at most for its next event.
const longestPauseMs = 5_000;
const idleAfterMs = 60_000;

/**
 * One dead or slow endpoint never delays another. An endpoint starts with one delivery in flight; each success doubles
 * that, a failure takes it back to one and lets it rest, longer each time. Endpoints that have not proven themselves
 * share half of all places, so a thousand that hang leave the other half to those that work.
 */
export function createLanes(monotonicMs: () => number = () => performance.now()): Lanes {
  const lanes = new Map<string, Lane>();
  const busy = new Map<string, Set<string>>();

  function laneOf(endpointUuid: string): Lane {
    const known = lanes.get(endpointUuid);
    if (known) return known;
    const lane = {
      inFlight: 0,
      cap: 1,
      isProven: false,
      isTried: false,
      notBeforeMs: 0,
      pauseMs: 0,
      usedAtMs: monotonicMs(),
    };
    lanes.set(endpointUuid, lane);
    return lane;
  }

  return {
    isProven: (endpointUuid) => laneOf(endpointUuid).isProven,

    learn(endpointUuid, isProven) {
      const lane = laneOf(endpointUuid);
      if (!lane.isTried) lane.isProven = isProven;
    },

    roomFor(endpointUuid) {
      const lane = laneOf(endpointUuid);
      const room = lane.cap - lane.inFlight;
      return room < lane.cap / refillShare || monotonicMs() < lane.notBeforeMs ? 0 : room;
    },

    started(endpointUuid, accountUuid) {
      const lane = laneOf(endpointUuid);
      lane.inFlight += 1;
      lane.usedAtMs = monotonicMs();
      const its = busy.get(accountUuid);
      if (its) its.add(endpointUuid);
      else busy.set(accountUuid, new Set([endpointUuid]));
    },

    finished(endpointUuid, ok) {
      const lane = laneOf(endpointUuid);
      lane.inFlight -= 1;
      lane.isProven = ok;
      lane.isTried = true;
      lane.pauseMs = ok ? 0 : Math.min(longestPauseMs, Math.max(firstPauseMs, lane.pauseMs * 2));
      lane.cap = ok ? Math.min(highestCap, lane.cap * 2) : 1;
      lane.usedAtMs = monotonicMs();
      lane.notBeforeMs = lane.usedAtMs + lane.pauseMs;
      return lane.pauseMs;
    },

    released(endpointUuid) {
      laneOf(endpointUuid).inFlight -= 1;
    },

    *busyOf(accountUuid) {
      for (const endpointUuid of busy.get(accountUuid) ?? []) {
        if (lanes.get(endpointUuid)?.isProven) yield endpointUuid;
      }
    },

    forgetIdle() {
      const before = monotonicMs() - idleAfterMs;
      for (const [endpointUuid, lane] of lanes) {
        if (lane.inFlight === 0 && lane.usedAtMs < before) lanes.delete(endpointUuid);
      }
      for (const [accountUuid, its] of busy) {
        for (const endpointUuid of its) if (!lanes.has(endpointUuid)) its.delete(endpointUuid);
        if (its.size === 0) busy.delete(accountUuid);
      }
    },
  };
}

/** How an endpoint's last attempt ended; `untried` when there was none. */
export type Standing = 'untried' | 'proven' | 'failing';

/** What this process knows of an endpoint it sends to. */
type Lane = {
  /** Claimed and not done with. */
  held: number;
  /** Of those, being sent. */
  inFlight: number;
  /** The others, in the order of their claims. */
  waiting: ((mayBeSent: boolean) => void)[];
  cap: number;
  standing: Standing;
  /** Whether this process has seen it succeed or fail itself. */
  isTried: boolean;
  notBeforeMs: number;
  pauseMs: number;
  usedAtMs: number;
};

export type Lanes = {
  standingOf(endpointUuid: string): Standing;
  /** What the database remembers counts until this process has its own experience. */
  learn(endpointUuid: string, standing: Standing): void;
  /** How many deliveries may be claimed for it now; 0 when it is full, or nearly, or resting. */
  roomFor(endpointUuid: string): number;
  claimed(endpointUuid: string, accountUuid: string): void;
  /** When one that was claimed may be sent, which ends with `finished` or `released`. False: it must be given back. */
  turn(endpointUuid: string): true | Promise<boolean>;
  /** Tells how long it has to rest. */
  finished(endpointUuid: string, ok: boolean): number;
  /** An attempt that says nothing about the endpoint: it was cut off by us. */
  released(endpointUuid: string): void;
  /** Nothing could be sent, for a reason of ours: it rests, what waits is given back, and it keeps its standing. */
  postponed(endpointUuid: string, restMs: number): void;
  /** The proven endpoints of an account that were sent to just now. */
  busyOf(accountUuid: string): Iterable<string>;
  /** So that endpoints that are gone do not pile up. */
  forgetIdle(): void;
};

const highestCap = 64;
// For an endpoint at full speed as many wait as are being sent, so that none of its places is empty while more are claimed.
const heldPerPlace = 2;
// It is refilled a quarter at a time, not one by one: a claim costs the same.
const refillShare = 4;
const firstPauseMs = 250;
// What a receiver that was just mended waits at most for its next event.
const longestPauseMs = 5_000;
const idleAfterMs = 60_000;

/**
 * One dead or slow endpoint never delays another. An endpoint starts with one delivery in flight; each success doubles
 * that, a failure takes it back to one, gives back what waits and lets it rest, longer each time.
 */
export function createLanes(monotonicMs: () => number = () => performance.now()): Lanes {
  const lanes = new Map<string, Lane>();
  const busy = new Map<string, Set<string>>();

  function laneOf(endpointUuid: string): Lane {
    const known = lanes.get(endpointUuid);
    if (known) return known;
    const lane: Lane = {
      held: 0,
      inFlight: 0,
      waiting: [],
      cap: 1,
      standing: 'untried',
      isTried: false,
      notBeforeMs: 0,
      pauseMs: 0,
      usedAtMs: monotonicMs(),
    };
    lanes.set(endpointUuid, lane);
    return lane;
  }

  /** A place of the lane is free again. */
  function giveTurns(lane: Lane): void {
    while (lane.inFlight < lane.cap) {
      const next = lane.waiting.shift();
      if (!next) return;
      lane.inFlight += 1;
      next(true);
    }
  }

  function sendAway(lane: Lane): void {
    lane.held -= lane.waiting.length;
    for (const one of lane.waiting.splice(0)) one(false);
  }

  return {
    standingOf: (endpointUuid) => laneOf(endpointUuid).standing,

    learn(endpointUuid, standing) {
      const lane = laneOf(endpointUuid);
      if (!lane.isTried) lane.standing = standing;
    },

    roomFor(endpointUuid) {
      const lane = laneOf(endpointUuid);
      const most = lane.cap === highestCap ? highestCap * heldPerPlace : lane.cap;
      const room = most - lane.held;
      return room < most / refillShare || monotonicMs() < lane.notBeforeMs ? 0 : room;
    },

    claimed(endpointUuid, accountUuid) {
      const lane = laneOf(endpointUuid);
      lane.held += 1;
      lane.usedAtMs = monotonicMs();
      const its = busy.get(accountUuid);
      if (its) its.add(endpointUuid);
      else busy.set(accountUuid, new Set([endpointUuid]));
    },

    turn(endpointUuid) {
      const lane = laneOf(endpointUuid);
      if (lane.inFlight >= lane.cap) return new Promise((resolve) => lane.waiting.push(resolve));
      lane.inFlight += 1;
      return true;
    },

    finished(endpointUuid, ok) {
      const lane = laneOf(endpointUuid);
      lane.held -= 1;
      lane.inFlight -= 1;
      lane.standing = ok ? 'proven' : 'failing';
      lane.isTried = true;
      lane.pauseMs = ok ? 0 : Math.min(longestPauseMs, Math.max(firstPauseMs, lane.pauseMs * 2));
      lane.cap = ok ? Math.min(highestCap, lane.cap * 2) : 1;
      lane.usedAtMs = monotonicMs();
      lane.notBeforeMs = lane.usedAtMs + lane.pauseMs;
      if (ok) giveTurns(lane);
      else sendAway(lane);
      return lane.pauseMs;
    },

    released(endpointUuid) {
      const lane = laneOf(endpointUuid);
      lane.held -= 1;
      lane.inFlight -= 1;
      giveTurns(lane);
    },

    postponed(endpointUuid, restMs) {
      const lane = laneOf(endpointUuid);
      lane.held -= 1;
      lane.inFlight -= 1;
      lane.notBeforeMs = monotonicMs() + restMs;
      sendAway(lane);
    },

    *busyOf(accountUuid) {
      for (const endpointUuid of busy.get(accountUuid) ?? []) {
        if (lanes.get(endpointUuid)?.standing === 'proven') yield endpointUuid;
      }
    },

    forgetIdle() {
      const before = monotonicMs() - idleAfterMs;
      for (const [endpointUuid, lane] of lanes) {
        if (lane.held === 0 && lane.usedAtMs < before) lanes.delete(endpointUuid);
      }
      for (const [accountUuid, its] of busy) {
        for (const endpointUuid of its) if (!lanes.has(endpointUuid)) its.delete(endpointUuid);
        if (its.size === 0) busy.delete(accountUuid);
      }
    },
  };
}

import { type AccountSlots, createAccountSlots } from './account-slots.ts';
import type { EndpointClaims } from './endpoint-claims.ts';
import { createFairQueue } from './fair-queue.ts';
import type { Lanes, Standing } from './lanes.ts';
import { createUrgentDeliveries, type Urgent } from './urgent-deliveries.ts';

/**
 * Separate queues, so neither slots nor claims of working endpoints wait for endpoints that may hang. Explicit retries have slots of
 * their own.
 */
export type QueueName = 'proven' | 'unproven' | 'urgent';

export type Slots = Record<QueueName, AccountSlots>;

/** Makes a queue claim. */
export type Wake = Record<QueueName, () => void>;

/** An endpoint with slots acquired for this many deliveries. With `deliveryUuids` only those are claimed. */
export type Chosen = { endpointUuid: string; accountUuid: string; slots: number; deliveryUuids?: string[] };

type Deps = {
  slots: Slots;
  lanes: Pick<Lanes, 'standingOf' | 'roomFor'>;
  claims: Pick<EndpointClaims, 'mayClaim'>;
  wake: Wake;
};

// Slots for explicit retries, besides `concurrency`: one in this many.
const urgentDivisor = 16;
// Retries due within this time get a timer; the scan finds later ones.
const maxTimerMs = 10_000;

/** Each queue limits each account, because an account's proven endpoints can all start to hang too. */
export function createSlots(concurrency: number): Slots {
  return {
    proven: createAccountSlots(Math.ceil(concurrency / 2)),
    unproven: createAccountSlots(Math.floor(concurrency / 2)),
    urgent: createAccountSlots(Math.ceil(concurrency / urgentDivisor)),
  };
}

export type ReadyEndpoints = ReturnType<typeof createReadyEndpoints>;

/** Which endpoint is next: those that may have due deliveries, in the order in which they get their turn. */
export function createReadyEndpoints({ slots, lanes, claims, wake }: Deps) {
  const proven = new Map<string, string>();
  const unproven = { untried: createFairQueue(), failing: createFairQueue() };
  const urgent = createUrgentDeliveries(slots.urgent, claims.mayClaim);
  // The last quarter is for untried endpoints, so failing endpoints never block them, however many accounts have some.
  const reservedForUntried = Math.floor(slots.unproven.total / 4);
  let isClosed = false;

  /** The endpoint may have due deliveries. */
  function add(endpointUuid: string, accountUuid: string): void {
    const standing = lanes.standingOf(endpointUuid);
    if (standing !== 'proven') proven.delete(endpointUuid);
    if (standing !== 'untried') unproven.untried.delete(endpointUuid);
    if (standing !== 'failing') unproven.failing.delete(endpointUuid);
    if (standing !== 'proven') unproven[standing].add({ endpointUuid, accountUuid });
    else if (!proven.has(endpointUuid)) proven.set(endpointUuid, accountUuid);
  }

  /** Round-robin, because those that may have more are added at the end. */
  function takeProven(count: number): Chosen[] {
    const chosen: Chosen[] = [];
    let left = isClosed ? 0 : count;
    for (const [endpointUuid, accountUuid] of proven) {
      if (left === 0) break;
      if (!claims.mayClaim(endpointUuid)) continue;
      const taken = Math.min(left, lanes.roomFor(endpointUuid), slots.proven.availableTo(accountUuid));
      if (taken === 0) continue;
      slots.proven.acquire(accountUuid, taken);
      chosen.push({ endpointUuid, accountUuid, slots: taken });
      left -= taken;
      proven.delete(endpointUuid);
    }
    return chosen;
  }

  function takeOne(standing: Exclude<Standing, 'proven'>): Chosen | null {
    const reserved = standing === 'untried' ? 0 : reservedForUntried;
    const next = unproven[standing].take({
      mayTakeFor: (accountUuid) => slots.unproven.availableTo(accountUuid, reserved) > 0,
      hasRoom: (endpointUuid) => lanes.roomFor(endpointUuid) > 0 && claims.mayClaim(endpointUuid),
    });
    return next && { ...next, slots: 1 };
  }

  /** Alternates between untried and failing endpoints, so neither waits for the other queue to empty. */
  function takeUnproven(count: number): Chosen[] {
    const chosen: Chosen[] = [];
    while (chosen.length < count && !isClosed) {
      const isUntriedNext = chosen.length % 2 === 0;
      const next =
        takeOne(isUntriedNext ? 'untried' : 'failing') ?? takeOne(isUntriedNext ? 'failing' : 'untried');
      if (!next) break;
      slots.unproven.acquire(next.accountUuid, next.slots);
      chosen.push(next);
    }
    return chosen;
  }

  return {
    add,
    /** Like `add`, after the delay, unless the scan finds the endpoint earlier. */
    addLater(endpointUuid: string, accountUuid: string, delayMs: number): void {
      if (delayMs > maxTimerMs) return;
      const addAndWake = () => {
        add(endpointUuid, accountUuid);
        wake.unproven();
      };
      setTimeout(addAndWake, delayMs).unref();
    },
    /** The delivery is to be sent now. If too many are, it is sent when its endpoint's turn comes. */
    addUrgent(delivery: Urgent): void {
      if (urgent.add(delivery)) wake.urgent();
      else add(delivery.endpointUuid, delivery.accountUuid);
    },
    has: (endpointUuid: string): boolean =>
      proven.has(endpointUuid) || unproven.untried.has(endpointUuid) || unproven.failing.has(endpointUuid),
    hasProven: () => proven.size > 0,
    hasUrgent: () => !urgent.isEmpty(),
    /** Removes the next endpoints and acquires slots for up to `count` deliveries; whoever claims adds those that may have more. */
    take: {
      proven: takeProven,
      unproven: takeUnproven,
      urgent: (count: number): Chosen[] => (isClosed ? [] : urgent.take(count)),
    },
    unproven: () => [...unproven.untried.endpoints(), ...unproven.failing.endpoints()],
    dropUnproven(endpointUuid: string): void {
      unproven.untried.delete(endpointUuid);
      unproven.failing.delete(endpointUuid);
    },
    /** From now on nothing is taken. */
    close(): void {
      isClosed = true;
    },
  };
}

import type { AccountSlots } from './account-slots.ts';

type Urgent = { accountUuid: string; endpointUuid: string; deliveryUuid: string };

/** Deliveries to claim by their ids. */
type Named = { accountUuid: string; endpointUuid: string; slots: number; deliveryUuids: string[] };

export type UrgentDeliveries = {
  /** False if too many wait: the delivery is sent when its endpoint's turn comes. */
  add(urgent: Urgent): boolean;
  /** Removes and returns up to `count` deliveries, by endpoint, and acquires a slot for each. */
  take(count: number): Named[];
  isEmpty(): boolean;
};

const maxWaiting = 1_000;

/** Deliveries that were asked to be sent now. They skip their endpoint's queue and pause, within slots of their own. */
export function createUrgentDeliveries(
  slots: AccountSlots,
  mayClaim: (endpointUuid: string) => boolean,
): UrgentDeliveries {
  const waiting = new Map<string, Urgent>();
  return {
    add(urgent) {
      if (waiting.size >= maxWaiting) return false;
      waiting.set(urgent.deliveryUuid, urgent);
      return true;
    },
    take(count) {
      const taken = new Map<string, Named>();
      let left = count;
      for (const { accountUuid, endpointUuid, deliveryUuid } of waiting.values()) {
        if (left === 0) break;
        if (!mayClaim(endpointUuid) || slots.availableTo(accountUuid) === 0) continue;
        waiting.delete(deliveryUuid);
        slots.acquire(accountUuid, 1);
        left -= 1;
        const named = taken.get(endpointUuid) ?? { accountUuid, endpointUuid, slots: 0, deliveryUuids: [] };
        named.slots += 1;
        named.deliveryUuids.push(deliveryUuid);
        taken.set(endpointUuid, named);
      }
      return [...taken.values()];
    },
    isEmpty: () => waiting.size === 0,
  };
}

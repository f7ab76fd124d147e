import type { AccountSlots } from './account-slots.ts';

export type Urgent = { accountUuid: string; endpointUuid: string; deliveryUuid: string };

/** Deliveries to claim by their ids. */
type Named = { accountUuid: string; endpointUuid: string; slots: number; deliveryUuids: string[] };

const maxWaiting = 1_000;
// A script that retries all failed deliveries of one account must leave room for the others.
const maxWaitingOfAccount = 100;

/** Deliveries that were asked to be sent now. They skip their endpoint's queue and pause, within slots of their own. */
export function createUrgentDeliveries(slots: AccountSlots, mayClaim: (endpointUuid: string) => boolean) {
  const waiting = new Map<string, Urgent>();
  const countOf = new Map<string, number>();

  function remove({ accountUuid, deliveryUuid }: Urgent): void {
    waiting.delete(deliveryUuid);
    const left = (countOf.get(accountUuid) ?? 1) - 1;
    if (left > 0) countOf.set(accountUuid, left);
    else countOf.delete(accountUuid);
  }

  return {
    /** False if too many wait: the delivery is sent when its endpoint's turn comes. */
    add(urgent: Urgent): boolean {
      if (waiting.has(urgent.deliveryUuid)) return true;
      const count = countOf.get(urgent.accountUuid) ?? 0;
      if (waiting.size >= maxWaiting || count >= maxWaitingOfAccount) return false;
      waiting.set(urgent.deliveryUuid, urgent);
      countOf.set(urgent.accountUuid, count + 1);
      return true;
    },
    /** Removes and returns up to `count` deliveries, by endpoint, and acquires a slot for each. */
    take(count: number): Named[] {
      const taken = new Map<string, Named>();
      let left = count;
      for (const urgent of waiting.values()) {
        const { accountUuid, endpointUuid, deliveryUuid } = urgent;
        if (left === 0) break;
        if (!mayClaim(endpointUuid) || slots.availableTo(accountUuid) === 0) continue;
        remove(urgent);
        slots.acquire(accountUuid, 1);
        left -= 1;
        const named = taken.get(endpointUuid) ?? { accountUuid, endpointUuid, slots: 0, deliveryUuids: [] };
        named.slots += 1;
        named.deliveryUuids.push(deliveryUuid);
        taken.set(endpointUuid, named);
      }
      return [...taken.values()];
    },
    isEmpty: (): boolean => waiting.size === 0,
  };
}

import type { Database } from '../../../platform/db/database.ts';
import { createGroupCommit, type GroupCommit } from '../../../platform/db/group-commit.ts';
import { type OrderKey, orderKeyText, type Promoted } from '../ordered/order-key.ts';
import { promote } from '../ordered/promote.ts';
import { type EndpointHealth, type Settled, settleDeliveries } from './sql/settle-deliveries.ts';

/** Writes results in batches. Returns the endpoint's health for each result, or null if the endpoint is not failing. */
export function createSettler(db: Database): GroupCommit<Settled, EndpointHealth | null> {
  return createGroupCommit({
    async write(results: Settled[]) {
      const failing = await settleDeliveries(db, results);
      const healthOf = new Map(failing.map((health) => [health.id, health]));
      return results.map(({ delivery }) => healthOf.get(delivery.endpoint_id) ?? null);
    },
    mostInFlight: 1, // concurrent batches would block on a shared endpoint's row
  });
}

/** Moves the delivery that waited for an ended one to the queue. Returns null if none did. */
export function createPromoter(db: Database): GroupCommit<OrderKey, Promoted | null> {
  return createGroupCommit({
    async write(keys: OrderKey[]) {
      const promoted = await promote(db, keys);
      const nextOf = new Map(promoted.map((one) => [orderKeyText(one), one]));
      return keys.map((key) => nextOf.get(orderKeyText(key)) ?? null);
    },
    mostInFlight: 1,
  });
}

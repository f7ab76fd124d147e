import type { Database } from '../../db/database.ts';
import { createGroupCommit, type GroupCommit } from '../../db/group-commit.ts';
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

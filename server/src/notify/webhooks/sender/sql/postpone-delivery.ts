import type { Queryable } from '../../../../platform/db/database.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

/** Makes a claimed delivery due later without counting an attempt, because nothing was sent. */
export async function postponeDelivery(
  db: Queryable,
  delivery: ClaimedDelivery,
  delayMs: number,
): Promise<void> {
  await db.query(
    {
      name: 'delivery_postpone',
      text: `
update delivery_queue
set due_at = now() + $5 * interval '1 millisecond'
where account_id = $1 and id = $2 and attempt_count = $3 and exists (
  select from endpoint_leases
  where endpoint_id = delivery_queue.endpoint_id and account_id = $1 and fence = $4)`,
    },
    [delivery.account_id, delivery.id, delivery.attempt_count, delivery.fence, delayMs],
  );
}

import type { Queryable } from '../../../../platform/db/database.ts';
import { column, rowsOf } from '../../../../platform/db/rows.ts';
import type { OrderKey, Promoted } from '../order-key.ts';
import { isNextInOrder } from './is-next-in-order.ts';

const given = rowsOf<OrderKey>({
  account_id: column.uuid((key) => key.accountUuid),
  endpoint_id: column.uuid((key) => key.endpointUuid),
  order_key: column.text((key) => key.iccid),
});

/**
 * Moves the first blocked delivery of each key to the queue, unless one is there already. Two statements at once cannot both move
 * one: the second waits for the first's row lock (`skip locked` would let it take the next delivery), and then finds a row in the
 * unique index. The keys must be sorted, so that two statements lock them in the same order.
 */
export function promoteFirst(db: Queryable, keys: OrderKey[]): Promise<Promoted[]> {
  return db.query(
    {
      name: 'ordered_promote',
      text: `
with first as materialized (
  select blocked.*
  from ${given.table} key
  cross join lateral (
    select ctid, account_id, id, event_id, endpoint_id, origin, order_key, created_at
    from blocked_deliveries
    where endpoint_id = key.endpoint_id and order_key = key.order_key and position is not null
    order by position, event_id
    limit 1
    for update) blocked
  where blocked.account_id = key.account_id and ${isNextInOrder('key')}
), promoted as (
  insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, order_key, created_at)
  select account_id, id, event_id, endpoint_id, origin,
    -- Retention may have deleted the event of a recovered delivery. It is never sent then, so it must not block others.
    case when exists (
      select from events
      where events.account_id = first.account_id and events.id = first.event_id) then order_key end,
    created_at
  from first
  on conflict (endpoint_id, order_key) where order_key is not null do nothing
  returning account_id, endpoint_id, order_key, id
), removed as (
  -- By ctid: the row is locked, and a plan made while the table was small could read it completely for a join by key.
  delete from blocked_deliveries
  where ctid = any(array(
    select first.ctid
    from first
    join promoted on promoted.account_id = first.account_id and promoted.id = first.id))
)
select account_id as "accountUuid", endpoint_id as "endpointUuid", order_key as iccid, id as "deliveryUuid"
from promoted`,
    },
    given.values(keys),
  );
}

import type { Queryable } from '../../../../platform/db/database.ts';
import type { OrderKey } from '../order-key.ts';
import { isNextInOrder } from './is-next-in-order.ts';

/** A place in the walk over all keys. */
export type Place = { endpointUuid: string; iccid: string };

type Walked = {
  keys: OrderKey[];
  /** Where the next walk starts; null after the last key. */
  next: Place | null;
};

type Row = OrderKey & { isPromotable: boolean; walked: number };

/** Walks up to `count` keys, by a skip scan over the index, and returns those whose first delivery may be sent. */
export async function findPromotable(
  db: Queryable,
  after: Place,
  { count, isOneEndpoint }: { count: number; isOneEndpoint: boolean },
): Promise<Walked> {
  const scope = isOneEndpoint ? 'b.endpoint_id = $1 and b.order_key > ' : '(b.endpoint_id, b.order_key) > ';
  const next = (endpoint: string, iccid: string) => `
    select b.account_id, b.endpoint_id, b.order_key
    from blocked_deliveries b
    where ${scope}${isOneEndpoint ? iccid : `(${endpoint}, ${iccid})`}
    order by b.endpoint_id, b.order_key
    limit 1`;
  const rows = await db.query<Row>(
    {
      name: `ordered_find_promotable${isOneEndpoint ? '_of_endpoint' : ''}`,
      text: `
with recursive key as (
  (${next('$1', '$2')})
  union all
  select following.account_id, following.endpoint_id, following.order_key
  from key
  cross join lateral (${next('key.endpoint_id', 'key.order_key')}) following
), walked as materialized (
  select account_id, endpoint_id, order_key, row_number() over () as n
  from key
  limit $3
), judged as materialized (
  select account_id, endpoint_id, order_key, n, ${isNextInOrder('walked')} and exists (
    select from blocked_deliveries
    where endpoint_id = walked.endpoint_id and order_key = walked.order_key and position is not null
    offset 0) as is_promotable
  from walked
)
select account_id as "accountUuid", endpoint_id as "endpointUuid", order_key as iccid, is_promotable as "isPromotable",
  n::integer as walked
from judged
where is_promotable or n = (select max(n) from walked)
order by n`,
    },
    [after.endpointUuid, after.iccid, count],
  );
  const last = rows.at(-1);
  return {
    keys: rows.filter(({ isPromotable }) => isPromotable),
    next: last?.walked === count ? last : null,
  };
}

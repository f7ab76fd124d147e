import type { Queryable } from '../../../platform/db/database.ts';
import { many, one, value } from '../../../platform/db/statement.ts';
import type { Stage } from '../stages.ts';

/** A sum by hour and stage, or by stage, code and bucket; `code` is empty if the stage was reached. */
export type CountRow =
  | { stage: Stage; hour: Date; isReached: boolean; code: null; bucket: null; count: number }
  | { stage: Stage; hour: null; isReached: null; code: string; bucket: number; count: number };

/** Both sums in one scan. An hour has about 100 rows at most: 8 ms for a day on a busy machine, 200 ms for 31 days. */
export const readCounts = many<CountRow, [accountUuid: string, range: { from: Date; until: Date }]>(
  'overview_read_counts',
  (accountUuid, { from, until }) => [accountUuid, from, until],
)`
select stage, hour, code = '' as "isReached", code, bucket, sum(count::float8) as count
from order_counts
where account_id = $1 and hour >= $2 and hour < $3
group by grouping sets ((stage, hour, code = ''), (stage, code, bucket))`;

/** The most open orders that an overview counts: 10 ms. A backlog can be a million. */
const maxOpenOrders = 10_000;

/** Open orders by the hour they were accepted; the newest, if there are more than the most that are counted. */
export const readOpenOrders = many<
  { hour: Date; count: number },
  [accountUuid: string, range: { fromUuid: string; untilUuid: string }]
>('overview_read_open_orders', (accountUuid, { fromUuid, untilUuid }) => [accountUuid, fromUuid, untilUuid])`
select date_trunc('hour', created_at, 'UTC') as hour, count(*)::integer as count
from (
  select created_at
  from execution_queue
  where account_id = $1 and id >= $2 and id < $3 and type = 'esim.provision'
  order by id desc
  limit ${maxOpenOrders}
) open
group by 1`;

export type Backlogs = { executions: number; orders: number; deliveries: number };

/** Counting stops here: a backlog can be a million. */
const maxCounted = 10_000;

const countBacklogs = one<Backlogs>('overview_read_backlogs')`
select open.executions, open.orders, pending.deliveries
from (
  select
    count(*)::integer as executions,
    count(*) filter (where type = 'esim.provision')::integer as orders
  from (
    select type
    from execution_queue
    limit ${maxCounted}
  ) found
) open
cross join (
  select count(*)::integer as deliveries
  from (
    (select from delivery_queue limit ${maxCounted})
    union all
    (select from blocked_deliveries limit ${maxCounted})
    limit ${maxCounted}
  ) found
) pending`;

/** Open executions, the orders among them, and pending deliveries, of all accounts. */
export async function readBacklogs(db: Queryable): Promise<Backlogs> {
  return (await countBacklogs(db)) ?? { executions: 0, orders: 0, deliveries: 0 };
}

/** When the last counted event happened, or null if all events are counted. Events that the feed has removed are never counted. */
export const findCountedTo = value<Date, [accountUuid: string]>('overview_find_counted_to')`
select
  case
    when head.last_position > greatest(counted.position, head.expired_through)
    then coalesce(counted.counted_to, 'epoch')
  end as "countedTo"
from event_feed_heads head
left join counted_events counted on counted.account_id = head.account_id
where head.account_id = $1`;

import type { Queryable } from '../../../platform/db/database.ts';

/** The most open orders that an overview counts: 10 ms. A backlog can be a million. */
const maxOpenOrders = 10_000;

/** Open orders by the hour they were accepted; the newest, if there are more than the most that are counted. */
export function readOpenOrders(
  db: Queryable,
  accountUuid: string,
  { fromUuid, untilUuid }: { fromUuid: string; untilUuid: string },
): Promise<{ hour: Date; count: number }[]> {
  return db.query(
    {
      name: 'overview_read_open_orders',
      text: `
select date_trunc('hour', created_at, 'UTC') as hour, count(*)::integer as count
from (
  select created_at
  from execution_queue
  where account_id = $1 and id >= $2 and id < $3 and type = 'esim.provision'
  order by id desc
  limit ${maxOpenOrders}
) open
group by 1`,
    },
    [accountUuid, fromUuid, untilUuid],
  );
}

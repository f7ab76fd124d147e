import type { Queryable } from '../../../platform/db/database.ts';

export type Backlogs = { executions: number; orders: number; deliveries: number };

/** Counting stops here: a backlog can be a million. */
const maxCounted = 10_000;

/** Open executions, the orders among them, and pending deliveries, of all accounts. */
export async function readBacklogs(db: Queryable): Promise<Backlogs> {
  const [row] = await db.query<Backlogs>({
    name: 'overview_read_backlogs',
    text: `
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
) pending`,
  });
  return row ?? { executions: 0, orders: 0, deliveries: 0 };
}

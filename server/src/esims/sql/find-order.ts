import type { Queryable } from '../../db/database.ts';
import type { EsimRow } from './rows.ts';

type Order = { uuid: string; progress: Record<string, unknown> };

/** The order of an eSIM, and how far it came. */
export async function findOrder(db: Queryable, { account_id, id }: EsimRow): Promise<Order | null> {
  const [row] = await db.query<Order>(
    {
      name: 'esim_order',
      text: `
with ordered as (
  select execution_id
  from esims
  where account_id = $1 and id = $2
)
select id as uuid, progress
from execution_queue
where account_id = $1 and id = (select execution_id from ordered)
union all
select id, progress
from executions
where account_id = $1 and id = (select execution_id from ordered)`,
    },
    [account_id, id],
  );
  return row ?? null;
}

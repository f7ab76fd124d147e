import type { Queryable } from '../../../platform/db/database.ts';
import type { EsimRow } from './rows.ts';

type Order = { uuid: string; progress: Record<string, unknown> };

/** The order of an eSIM with its progress. */
export async function findOrder(
  db: Queryable,
  { account_id, execution_id }: Pick<EsimRow, 'account_id' | 'execution_id'>,
): Promise<Order | null> {
  const [row] = await db.query<Order>(
    {
      name: 'esim_order',
      text: `
select id as uuid, progress
from execution_queue
where account_id = $1 and id = $2
union all
select id, progress
from executions
where account_id = $1 and id = $2`,
    },
    [account_id, execution_id],
  );
  return row ?? null;
}

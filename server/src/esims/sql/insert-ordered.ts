import type { Queryable } from '../../db/database.ts';
import { isHeld } from '../../executions/held.ts';
import type { Fenced } from '../../executions/worker.ts';
import { insertEsimFrom } from './insert-from.ts';

type Ordered = Fenced & { iccid: string; at: Date };
type Outcome = 'inserted' | 'lost' | 'taken';

/**
 * Where the numbers are the network's: the eSIM exists from the moment its ICCID is known. `lost`: the order is no longer
 * held. `taken`: another eSIM has that number, whatever the network says.
 */
export async function insertOrderedEsim(db: Queryable, row: Ordered): Promise<Outcome> {
  const [found] = await db.query<{ outcome: Outcome }>(
    {
      name: 'esim_insert_ordered',
      text: `
with ours as (
  select
  from execution_queue q
  where q.account_id = $1 and q.id = $2 and ${isHeld('q', '$3')}
), held as (
  update execution_queue q
  set iccid = $4,
      progress = q.progress || '{"is_ordered": true, "is_reserved": true}'
  where q.account_id = $1
    and q.id = $2
    and ${isHeld('q', '$3')}
    and not exists (select from esims where iccid = $4)
  returning q.account_id, q.id, q.product_id, q.input, q.iccid, $5::timestamptz as at
), ordered as (${insertEsimFrom('held')}
)
select
  case
    when exists (select from held) then 'inserted'
    when exists (select from ours) then 'taken'
    else 'lost'
  end as outcome`,
    },
    [row.account_id, row.id, row.fence, row.iccid, row.at],
  );
  return found?.outcome ?? 'lost';
}

import type { Queryable } from '../../../platform/db/database.ts';
import { isHeld } from '../../executions/held.ts';
import type { Fenced } from '../../executions/worker.ts';

type Ordered = Fenced & { iccid: string; progress: object };
type Outcome = 'stored' | 'lost' | 'taken';

/**
 * Stores the ICCID that the network chose, and the progress; the eSIM exists from then on. `lost`: this worker no longer holds the order. `taken`:
 * another eSIM already has the ICCID.
 */
export async function storeOrdered(db: Queryable, row: Ordered): Promise<Outcome> {
  const [found] = await db.query<{ outcome: Outcome }>(
    {
      name: 'esim_store_ordered',
      text: `
with ours as (
  select
  from execution_queue q
  where q.account_id = $1 and q.id = $2 and ${isHeld('q', '$3')}
), stored as (
  update execution_queue q
  set iccid = $4,
      progress = q.progress || $5
  where q.account_id = $1
    and q.id = $2
    and ${isHeld('q', '$3')}
    -- All accounts, because an ICCID belongs to at most one eSIM.
    and not exists (select from esims where iccid = $4)
    and not exists (select from execution_queue other where other.iccid = $4 and other.type = 'esim.provision')
  returning 1
)
select
  case
    when exists (select from stored) then 'stored'
    when exists (select from ours) then 'taken'
    else 'lost'
  end as outcome`,
    },
    [row.account_id, row.id, row.fence, row.iccid, JSON.stringify(row.progress)],
  );
  return found?.outcome ?? 'lost';
}

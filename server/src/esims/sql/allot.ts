import type { Queryable } from '../../db/database.ts';
import { forceKeyLookup } from '../../db/planner-hints.ts';
import { column, rowsOf } from '../../db/rows.ts';
import { isHeld } from '../../executions/held.ts';
import type { Fenced } from '../../executions/worker.ts';
import { insertEsimFrom } from './insert-from.ts';

export type Allotment = Fenced & {
  iccid: string | null;
  sealedMatchingId: string;
  at: Date;
};

/**
 * Gives new orders what they need before the network is called, and remembers it: a matching id, the profile type that the
 * catalog names now, and an ICCID where the numbers are ours. The eSIM exists from here on. Returns the orders that are still held.
 */
export function allotRows(
  db: Queryable,
  rows: Allotment[],
): Promise<{ id: string; progress: Record<string, unknown> }[]> {
  return db.query(allot, given.values(rows));
}

const given = rowsOf<Allotment>({
  account_id: column.uuid((row) => row.account_id),
  execution_id: column.uuid((row) => row.id),
  fence: column.integer((row) => row.fence),
  iccid: column.text((row) => row.iccid),
  matching_id: column.text((row) => row.sealedMatchingId),
  at: column.timestamptz((row) => row.at),
});

const allot = {
  name: 'esim_allot',
  text: `
with held as (
  update execution_queue q
  set iccid = given.iccid,
      progress = q.progress || jsonb_build_object(
        'matching_id', given.matching_id,
        'profile_type', (select profile_type from products where products.id = q.product_id))
  from ${given.table} given
  where q.account_id = given.account_id
    and q.id = given.execution_id
    and ${isHeld('q', 'given.fence')}
    and not q.progress ? 'matching_id'
    and ${forceKeyLookup('given.fence')}
  returning q.account_id, q.id, q.product_id, q.input, q.progress, q.iccid, given.at
), allotted as (${insertEsimFrom('held')}
)
select id, progress
from held`,
};

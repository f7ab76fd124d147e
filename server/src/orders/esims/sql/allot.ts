import type { Queryable } from '../../../platform/db/database.ts';
import { forceKeyLookup } from '../../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { isHeld } from '../../executions/held.ts';
import type { Fenced } from '../../executions/worker.ts';

export type Allotment = Fenced & {
  iccid: string | null;
  sealedMatchingId: string;
};

type Allotted = { id: string; iccid: string | null; progress: Record<string, unknown> };

/**
 * Stores what new orders need before the network is called: a matching id, the product's current profile type, and an ICCID if
 * we choose the ICCIDs. Returns the orders that this worker still holds.
 */
export function allotRows(db: Queryable, rows: Allotment[]): Promise<Allotted[]> {
  return db.query(allot, given.values(rows));
}

const given = rowsOf<Allotment>({
  account_id: column.uuid((row) => row.account_id),
  execution_id: column.uuid((row) => row.id),
  fence: column.integer((row) => row.fence),
  iccid: column.text((row) => row.iccid),
  matching_id: column.text((row) => row.sealedMatchingId),
});

const allot = {
  name: 'esim_allot',
  text: `
update execution_queue q
set iccid = coalesce(q.iccid, given.iccid),
    progress = q.progress || jsonb_build_object(
      'matching_id', given.matching_id,
      'profile_type', (select profile_type from products where products.id = q.product_id))
from ${given.table} given
where q.account_id = given.account_id
  and q.id = given.execution_id
  and ${isHeld('q', 'given.fence')}
  and not q.progress ? 'matching_id'
  and ${forceKeyLookup('given.fence')}
returning q.id, q.iccid, q.progress`,
};

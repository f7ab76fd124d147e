import type { Queryable } from '../../../platform/db/database.ts';
import { forceKeyLookup } from '../../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { isHeld } from '../held.ts';
import type { Fenced } from './rows.ts';

export type RecoveryPoint = { execution: Fenced; progress: object; leaseMs: number };

/** Stores a step's result before the next step begins, and renews the lease. Returns whether each execution is still held. */
export async function saveProgressRows(db: Queryable, points: RecoveryPoint[]): Promise<boolean[]> {
  const saved = await db.query<{ n: number }>(save, given.values(points));
  const held = new Set(saved.map(({ n }) => n));
  return points.map((_, index) => held.has(index + 1));
}

const given = rowsOf<RecoveryPoint>({
  account_id: column.uuid(({ execution }) => execution.account_id),
  id: column.uuid(({ execution }) => execution.id),
  fence: column.integer(({ execution }) => execution.fence),
  progress: column.text(({ progress }) => JSON.stringify(progress)),
  lease_ms: column.integer(({ leaseMs }) => leaseMs),
});

const save = {
  name: 'execution_progress',
  text: `
update execution_queue q
set progress = q.progress || given.progress::jsonb,
    leased_until = now() + given.lease_ms * interval '1 millisecond'
from ${given.table} given
where q.account_id = given.account_id
  and q.id = given.id
  and ${isHeld('q', 'given.fence')}
  and ${forceKeyLookup('given.fence')}
returning given.n::integer`,
};

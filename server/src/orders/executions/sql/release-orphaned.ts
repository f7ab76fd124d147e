import type { Queryable } from '../../../platform/db/database.ts';

/**
 * Ends every lease. Call it only while no worker runs: then every lease belongs to a dead process. Postponed executions have no
 * lease and keep their due time.
 */
export async function releaseOrphanedExecutions(db: Queryable): Promise<number> {
  const freed = await db.query({
    name: 'execution_release_orphaned',
    text: `
update execution_queue
set leased_until = null,
    progress = progress - 'waiting_for',
    fence = fence + 1
where leased_until is not null
returning 1`,
  });
  return freed.length;
}

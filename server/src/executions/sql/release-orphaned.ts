import type { Queryable } from '../../db/database.ts';

/**
 * Ends every lease. Only while no worker runs: then each is one of a process that has died. What waits for its next attempt
 * has no lease, and keeps its pause.
 */
export async function releaseOrphanedExecutions(db: Queryable): Promise<number> {
  const freed = await db.query({
    name: 'execution_release_orphaned',
    text: `
update execution_queue
set leased_until = null,
    fence = fence + 1
where leased_until is not null
returning 1`,
  });
  return freed.length;
}

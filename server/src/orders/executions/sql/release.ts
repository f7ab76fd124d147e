import type { Queryable } from '../../../platform/db/database.ts';
import { isHeld } from '../held.ts';
import type { Fenced } from './rows.ts';

/** Releases a claim without counting the attempt. Due now, so that other workers find it immediately. */
export async function releaseClaim(
  db: Queryable,
  { account_id, id, fence }: Fenced,
  progress: object,
): Promise<void> {
  await db.query(
    {
      name: 'execution_release',
      text: `
update execution_queue q
set due_at = now(),
    leased_until = null,
    attempts = q.attempts - 1,
    progress = (q.progress || $4) - 'waiting_for'
where q.account_id = $1 and q.id = $2 and ${isHeld('q', '$3')}`,
    },
    [account_id, id, fence, JSON.stringify(progress)],
  );
}

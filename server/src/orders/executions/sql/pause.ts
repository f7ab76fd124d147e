import type { Queryable } from '../../../platform/db/database.ts';
import { isHeld } from '../held.ts';
import type { Fenced } from './rows.ts';

/** Releases an execution while the network is paused: due again later, and the attempt does not count. */
export async function pauseExecution(
  db: Queryable,
  { account_id, id, fence }: Fenced,
  delayMs: number,
  progress: object,
): Promise<void> {
  await db.query(
    {
      name: 'execution_pause',
      text: `
update execution_queue q
set due_at = now() + $4::integer * interval '1 millisecond',
    leased_until = null,
    attempts = q.attempts - 1,
    progress = q.progress || $5
where q.account_id = $1 and q.id = $2 and ${isHeld('q', '$3')}`,
    },
    [account_id, id, fence, Math.ceil(delayMs), JSON.stringify(progress)],
  );
}

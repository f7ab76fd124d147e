import type { Queryable } from '../../../platform/db/database.ts';
import { isHeld } from '../held.ts';
import type { WaitingCause } from '../waiting-for.ts';
import type { Fenced } from './rows.ts';

type Pause = { delayMs: number; waitingFor: WaitingCause; progress: object };

/** Releases the execution, due again later, and merges the cause and `progress` into its stored progress. */
export async function postpone(
  db: Queryable,
  { account_id, id, fence }: Fenced,
  { delayMs, waitingFor, progress }: Pause,
): Promise<void> {
  await db.query(
    {
      name: 'execution_postpone',
      text: `
update execution_queue q
set due_at = now() + $4::integer * interval '1 millisecond',
    leased_until = null,
    progress = q.progress || $5
where q.account_id = $1 and q.id = $2 and ${isHeld('q', '$3')}`,
    },
    [account_id, id, fence, delayMs, JSON.stringify({ ...progress, waiting_for: waitingFor })],
  );
}

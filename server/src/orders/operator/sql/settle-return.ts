import type { Queryable } from '../../../platform/db/database.ts';
import type { ClaimedReturn } from './claim-returns.ts';

type Settled = {
  /** Null if it is tried again after the delay. */
  closedAt: Date | null;
  delayMs: number;
  error: object | null;
};

/** Writes nothing if another worker has claimed the return since. */
export async function settleReturn(
  db: Queryable,
  { account_id, execution_id, fence }: ClaimedReturn,
  { closedAt, delayMs, error }: Settled,
): Promise<void> {
  await db.query(
    {
      name: 'execution_settle_return',
      text: `
update execution_resolutions
set closed_at = $4,
    due_at = now() + $5::integer * interval '1 millisecond',
    leased_until = null,
    error = $6
where account_id = $1
  and execution_id = $2
  and fence = $3
  and closed_at is null`,
    },
    [account_id, execution_id, fence, closedAt, delayMs, error && JSON.stringify(error)],
  );
}

import type { Queryable } from '../../../../platform/db/database.ts';
import type { LockedRecovery } from './lock-recovery.ts';

export async function advanceRecovery(
  tx: Queryable,
  { account_id, id }: LockedRecovery,
  step: { position: string; checked: number; queued: number; finishedAt: Date | null },
): Promise<void> {
  await tx.query(
    {
      name: 'recovery_move',
      text: `
update recoveries
set position = $3, checked_count = checked_count + $4, queued_count = queued_count + $5, finished_at = $6
where account_id = $1 and id = $2`,
    },
    [account_id, id, step.position, step.checked, step.queued, step.finishedAt],
  );
}

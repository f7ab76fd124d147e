import type { Queryable } from '../../../db/database.ts';
import type { RecoveryRow } from './lock-recovery.ts';

export async function advanceRecovery(
  tx: Queryable,
  { account_id, id }: RecoveryRow,
  { position, finishedAt }: { position: string; finishedAt: Date | null },
): Promise<void> {
  await tx.query(
    {
      name: 'recovery_move',
      text: `
update recoveries
set position = $3, finished_at = $4
where account_id = $1 and id = $2`,
    },
    [account_id, id, position, finishedAt],
  );
}

import type { Queryable } from '../../../../platform/db/database.ts';
import { type RecoveryRow, recoveryColumns } from './recovery-row.ts';

export async function findRecovery(
  db: Queryable,
  accountUuid: string,
  uuid: string,
): Promise<RecoveryRow | null> {
  const [row] = await db.query<RecoveryRow>(
    {
      name: 'recovery_find',
      text: `
select ${recoveryColumns}
from recoveries
where account_id = $1 and id = $2`,
    },
    [accountUuid, uuid],
  );
  return row ?? null;
}

import type { Queryable } from '../../../../platform/db/database.ts';
import { beforeFirst } from '../../../../platform/lists/keyset.ts';
import { type RecoveryRow, recoveryColumns } from './recovery-row.ts';

export function listRecoveryRows(
  db: Queryable,
  accountUuid: string,
  endpointUuid: string,
  page: { beforeUuid: string | null; count: number },
): Promise<RecoveryRow[]> {
  return db.query(
    {
      name: 'recovery_list',
      text: `
select ${recoveryColumns}
from recoveries
where account_id = $1 and endpoint_id = $2 and id < $3
order by id desc
limit $4`,
    },
    [accountUuid, endpointUuid, page.beforeUuid ?? beforeFirst, page.count],
  );
}

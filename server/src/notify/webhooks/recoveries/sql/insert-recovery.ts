import type { Queryable } from '../../../../platform/db/database.ts';
import { type RecoveryRow, recoveryColumns } from './recovery-row.ts';

type NewRecovery = {
  accountUuid: string;
  uuid: string;
  endpointUuid: string;
  fromEvent: string;
  untilEvent: string;
  createdAt: Date;
};

/** Returns null if the endpoint is no longer enabled. */
export async function insertRecovery(tx: Queryable, recovery: NewRecovery): Promise<RecoveryRow | null> {
  const [row] = await tx.query<RecoveryRow>(
    {
      name: 'recovery_insert',
      text: `
insert into recoveries (account_id, id, endpoint_id, from_event, until_event, position, created_at)
select account_id, $3, id, $4, $5, $5, $6
from webhook_endpoints
where account_id = $1 and id = $2 and status = 'enabled'
returning ${recoveryColumns}`,
    },
    [
      recovery.accountUuid,
      recovery.endpointUuid,
      recovery.uuid,
      recovery.fromEvent,
      recovery.untilEvent,
      recovery.createdAt,
    ],
  );
  return row ?? null;
}

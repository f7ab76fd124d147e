import type { ExecutionType } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';

type OpenChange = { id: string; type: ExecutionType };

/** Finds an open change of this eSIM. The caller holds the eSIM's lock. */
export async function findOpenChange(
  tx: Queryable,
  accountUuid: string,
  iccid: string,
): Promise<OpenChange | null> {
  const [row] = await tx.query<OpenChange>(
    {
      name: 'execution_open_change',
      text: `
select id, type
from execution_queue
where account_id = $1
  and iccid = $2
  and type in ('esim.suspend', 'esim.resume', 'esim.terminate')
limit 1`,
    },
    [accountUuid, iccid],
  );
  return row ?? null;
}

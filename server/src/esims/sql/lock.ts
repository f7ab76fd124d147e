import type { Queryable } from '../../db/database.ts';
import { columns, type EsimRow } from './rows.ts';

/** Locks the eSIM until the transaction ends, so that changes to it and to its bundles run one after the other. */
export async function lockEsim(tx: Queryable, accountUuid: string, iccid: string): Promise<EsimRow | null> {
  const [row] = await tx.query<EsimRow>(
    {
      name: 'esim_lock',
      text: `
select ${columns}
from esims
where account_id = $1 and iccid = $2
for update`,
    },
    [accountUuid, iccid],
  );
  return row ?? null;
}

import type { Queryable } from '../../db/database.ts';
import { columns, type EsimRow } from './rows.ts';

export async function findEsim(db: Queryable, accountUuid: string, iccid: string): Promise<EsimRow | null> {
  const [row] = await db.query<EsimRow>(
    {
      name: 'esim_find',
      text: `
select ${columns}
from esims
where account_id = $1 and iccid = $2`,
    },
    [accountUuid, iccid],
  );
  return row ?? null;
}

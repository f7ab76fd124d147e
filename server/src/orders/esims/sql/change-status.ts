import type { Queryable } from '../../../platform/db/database.ts';
import { type EsimTransition, esimTransitions, sourcesOf } from '../state.ts';
import { columns, type EsimRow } from './rows.ts';

/** Returns null if the eSIM's status does not allow the change. */
export async function changeStatus(
  tx: Queryable,
  { account_id, iccid }: Pick<EsimRow, 'account_id' | 'iccid'>,
  transition: EsimTransition,
): Promise<EsimRow | null> {
  const { to } = esimTransitions[transition];
  const [row] = await tx.query<EsimRow>(
    {
      name: `esim_${transition}`,
      text: `
update esims
set status = ${to === null ? 'resumes_to' : `'${to}'`},
    resumes_to = ${transition === 'suspend' ? 'status' : 'null'}
where account_id = $1 and iccid = $2 and status = any($3)
returning ${columns}`,
    },
    [account_id, iccid, sourcesOf(transition)],
  );
  return row ?? null;
}

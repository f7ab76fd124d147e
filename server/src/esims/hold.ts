import type { Queryable } from '../db/database.ts';
import { noSuchEsim, requireEsim } from './get.ts';
import { type EsimRow, lockEsim } from './sql.ts';

/** The caller's own eSIM, locked to the end of the transaction. A stranger's is missing, and is not locked either. */
export async function holdEsim(tx: Queryable, accountUuid: string, iccid: string): Promise<EsimRow> {
  await requireEsim(tx, accountUuid, iccid);
  const esim = await lockEsim(tx, iccid);
  if (!esim) throw noSuchEsim(iccid);
  return esim;
}

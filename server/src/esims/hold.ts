import type { Queryable } from '../db/database.ts';
import { noSuchEsim, requireEsim } from './get.ts';
import { type EsimRow, lockEsim } from './sql.ts';

/** An eSIM that is locked to the end of the transaction. */
export type HeldEsim = EsimRow;

/** Locks the caller's own eSIM. Another account's is missing, and is not locked either. */
export async function holdEsim(tx: Queryable, accountUuid: string, iccid: string): Promise<HeldEsim> {
  await requireEsim(tx, accountUuid, iccid);
  const esim = await lockEsim(tx, iccid);
  if (!esim) throw noSuchEsim(iccid);
  return esim;
}

/** Locks an eSIM of any account: networks report by ICCID alone. */
export function holdAnyEsim(tx: Queryable, iccid: string): Promise<HeldEsim | null> {
  return lockEsim(tx, iccid);
}

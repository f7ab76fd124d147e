import type { Queryable } from '../db/database.ts';
import { noSuchEsim, requireEsim } from './get.ts';
import { type EsimRow, lockEsim } from './sql.ts';

/** An eSIM whose row is locked until the transaction ends. */
export type LockedEsim = EsimRow;

/** Locks an eSIM of the account. An eSIM of another account counts as missing and is not locked. */
export async function lockOwnEsim(tx: Queryable, accountUuid: string, iccid: string): Promise<LockedEsim> {
  await requireEsim(tx, accountUuid, iccid);
  const esim = await lockEsim(tx, iccid);
  if (!esim) throw noSuchEsim(iccid);
  return esim;
}

/** Locks an eSIM of any account, since networks report by ICCID only. */
export function lockAnyEsim(tx: Queryable, iccid: string): Promise<LockedEsim | null> {
  return lockEsim(tx, iccid);
}

import type { Queryable } from '../../platform/db/database.ts';
import { noSuchEsim } from './get.ts';
import { type EsimRow, findOwner, lockEsim } from './sql/esims.ts';

/** An eSIM whose row is locked until the transaction ends. */
export type LockedEsim = EsimRow;

/** Locks an eSIM of the account. An eSIM of another account counts as missing and is not locked. */
export async function lockOwnEsim(tx: Queryable, accountUuid: string, iccid: string): Promise<LockedEsim> {
  const esim = await lockEsim(tx, accountUuid, iccid);
  if (!esim) throw noSuchEsim(iccid);
  return esim;
}

/** Why an eSIM of any account was not locked: nobody here has it, its account is in another cell, or it is about to leave. */
export type NotLocked = 'unknown' | 'elsewhere' | 'leaving';

/** Locks an eSIM of any account, since networks report by ICCID only. */
export async function lockAnyEsim(tx: Queryable, iccid: string): Promise<LockedEsim | NotLocked> {
  const owner = await findOwner(tx, iccid);
  if (owner === null) return 'unknown';
  if (!owner.isHere) return owner.isElsewhere ? 'elsewhere' : 'leaving';
  return (await lockEsim(tx, owner.accountUuid, iccid)) ?? 'unknown';
}

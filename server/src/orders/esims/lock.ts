import { beingMoved } from '../../accounts/moves/require-here.ts';
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

/**
 * Locks an eSIM of any account, since networks report by ICCID only. Throws while the account moves to another cell: the report would be
 * lost.
 */
export async function lockAnyEsim(tx: Queryable, iccid: string): Promise<LockedEsim | null> {
  const owner = await findOwner(tx, iccid);
  if (owner === null) return null;
  if (!owner.isHere) throw beingMoved('The eSIM');
  return lockEsim(tx, owner.accountUuid, iccid);
}

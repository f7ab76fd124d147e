import type { Queryable } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { newEvent } from '../events/new-event.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import type { LockedEsim } from './lock.ts';
import { changeStatus } from './sql/change-status.ts';
import { canTransition } from './state.ts';

/** Activates a provisioned eSIM at its first attach; does nothing in any other status. The caller holds the eSIM's lock. */
export async function activateEsim(
  tx: Queryable,
  esim: LockedEsim,
  deps: { newUuid: NewUuid },
): Promise<LockedEsim> {
  if (!canTransition('activate', esim.status)) return esim;
  const active = await changeStatus(tx, esim, 'activate');
  if (!active) return esim;
  const data = { iccid: esim.iccid, product_id: esim.product_id };
  await emit(tx, [newEvent(deps, { accountUuid: esim.account_id, type: 'esim.activated', data })]);
  return active;
}

import { emit } from '../../notify/events/emit.ts';
import { newEvent } from '../../notify/events/new-event.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import type { LockedEsim } from './lock.ts';
import { changeStatus } from './sql/esims.ts';
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
  const { account_id: accountUuid, reference } = esim;
  await emit(tx, [newEvent(deps, { accountUuid, type: 'esim.activated', data, reference })]);
  return active;
}

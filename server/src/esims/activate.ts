import type { Queryable } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { newEvent } from '../events/new-event.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import type { HeldEsim } from './hold.ts';
import { changeStatus } from './sql.ts';
import { mayHappen } from './state.ts';

/** A provisioned eSIM becomes active, by its first attach; any other stays what it is. The caller holds the eSIM's lock. */
export async function activateEsim(
  tx: Queryable,
  esim: HeldEsim,
  deps: { newUuid: NewUuid },
): Promise<HeldEsim> {
  if (!mayHappen('activate', esim.status)) return esim;
  const active = await changeStatus(tx, esim.iccid, 'activate');
  if (!active) return esim;
  const data = { iccid: esim.iccid, product_id: esim.product_id };
  await emit(tx, [newEvent(deps, { accountUuid: esim.account_id, type: 'esim.activated', data })]);
  return active;
}

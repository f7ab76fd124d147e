import type { Queryable } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { newEvent } from '../events/new-event.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { changeStatus, type EsimRow } from './sql.ts';
import { mayHappen } from './state.ts';

/** A provisioned eSIM becomes active; any other stays what it is. */
export async function activateOnFirstAttach(
  tx: Queryable,
  esim: EsimRow,
  means: { newUuid: NewUuid },
): Promise<EsimRow> {
  if (!mayHappen('activate', esim.status)) return esim;
  const active = await changeStatus(tx, esim.iccid, 'activate');
  if (!active) return esim;
  const data = { iccid: esim.iccid, product_id: esim.product_id };
  await emit(tx, [newEvent(means, { accountUuid: esim.account_id, type: 'esim.activated', data })]);
  return active;
}

import type { Queryable } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { newEvent } from '../events/new-event.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import type { ObservedState } from '../network/port.ts';
import { nextProfileState } from './profile-state.ts';
import { type EsimRow, updateProfile } from './sql.ts';

/** What a device did with the profile. It never changes the eSIM's status. */
export async function observeProfile(
  tx: Queryable,
  esim: EsimRow,
  { state, at, eid }: { state: ObservedState; at: Date; eid?: string },
  means: { newUuid: NewUuid },
): Promise<EsimRow> {
  const next = nextProfileState({ state: esim.profile_state, at: esim.profile_observed_at }, { state, at });
  if (!next) return esim;
  const after = await updateProfile(tx, esim, { state, at, eid: eid ?? null });
  if (next.isChange && state !== 'error') {
    const data = { iccid: esim.iccid, product_id: esim.product_id };
    await emit(tx, [newEvent(means, { accountUuid: esim.account_id, type: `esim.${state}`, data })]);
  }
  return after;
}

import { promoteBundle } from '../bundles/promote.ts';
import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { newEvent } from '../events/new-event.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { activateOnFirstAttach } from './observe-first-attach.ts';
import { type EsimRow, updateCountry } from './sql.ts';

type Means = { clock: Clock; newUuid: NewUuid };
type Attach = { country: string; at: Date };

/** The eSIM is on a network: the first time it becomes active and its bundle begins; each time we learn where it is. */
export async function observeAttach(
  tx: Queryable,
  esim: EsimRow,
  attach: Attach,
  means: Means,
): Promise<EsimRow> {
  const active = await activateOnFirstAttach(tx, esim, means);
  await promoteBundle(tx, active, attach.at, means);
  return noteCountry(tx, active, attach, means);
}

/** A report that is no newer than what we know tells nothing of where the eSIM is now. */
async function noteCountry(
  tx: Queryable,
  esim: EsimRow,
  { country, at }: Attach,
  means: Means,
): Promise<EsimRow> {
  if (esim.country_observed_at && at <= esim.country_observed_at) return esim;
  const previous = esim.country;
  const after = await updateCountry(tx, esim, { country, at });
  if (previous !== null && previous !== country) {
    const data = { iccid: esim.iccid, product_id: esim.product_id, country, previous_country: previous };
    await emit(tx, [newEvent(means, { accountUuid: esim.account_id, type: 'esim.country_changed', data })]);
  }
  return after;
}

import { recordUsage } from '../bundles/record-usage.ts';
import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { activateOnFirstAttach } from './observe-first-attach.ts';
import type { EsimRow } from './sql.ts';

/** Data was used, so the eSIM did attach. Before it is provisioned it has no bundle that could be charged. */
export async function observeUsage(
  tx: Queryable,
  esim: EsimRow,
  record: { recordId: string; bytes: number; at: Date },
  means: { clock: Clock; newUuid: NewUuid },
): Promise<EsimRow> {
  if (esim.status === 'provisioning') return esim;
  const active = await activateOnFirstAttach(tx, esim, means);
  await recordUsage(tx, active, record, means);
  return active;
}

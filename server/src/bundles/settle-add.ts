import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { addBundleRow, type NewBundle } from './add.ts';
import { promoteBundle } from './promote.ts';
import type { Holder } from './sql.ts';

type TopUp = { esim: Holder } & Pick<NewBundle, 'product' | 'thresholds'>;

/** Adds what was bought; it begins at once when the eSIM is active and has no other. The caller holds the eSIM's lock. */
export async function settleBundleAdd(
  tx: Queryable,
  { esim, product, thresholds }: TopUp,
  means: { clock: Clock; newUuid: NewUuid; executionId: string },
): Promise<void> {
  await addBundleRow(tx, { accountUuid: esim.account_id, iccid: esim.iccid, product, thresholds }, means);
  await promoteBundle(tx, esim, new Date(means.clock.nowMs()), means);
}

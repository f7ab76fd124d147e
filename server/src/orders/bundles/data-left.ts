import type { Queryable } from '../../platform/db/database.ts';
import { type BundleRow, readBundles } from './sql.ts';

/** What an eSIM has left. `leftBytes` is null if the data is unlimited, `until` if no bundle is active. */
export type DataLeft = { leftBytes: number | null; until: Date | null };

export async function readDataLeft(
  db: Queryable,
  esim: { account_id: string; iccid: string },
): Promise<DataLeft> {
  return dataLeftOf(await readBundles(db, [esim]));
}

type Counted = Pick<BundleRow, 'status' | 'data_bytes' | 'used_bytes' | 'expires_at'>;

/** Of the active bundles or, before the first use, of those that wait. */
export function dataLeftOf(bundles: readonly Counted[]): DataLeft {
  const active = bundles.filter(({ status }) => status === 'active');
  const counted = active.length > 0 ? active : bundles.filter(({ status }) => status === 'queued');
  const isUnlimited = counted.some(({ data_bytes }) => data_bytes === null);
  const leftBytes = counted.reduce(
    (sum, one) => sum + Math.max(0, (one.data_bytes ?? 0) - one.used_bytes),
    0,
  );
  const ends = active.flatMap(({ expires_at }) => expires_at?.getTime() ?? []);
  return {
    leftBytes: isUnlimited ? null : leftBytes,
    until: ends.length > 0 ? new Date(Math.max(...ends)) : null,
  };
}

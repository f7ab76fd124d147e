import type { Queryable } from '../db/database.ts';
import { insertUsageRecords } from './sql.ts';

/** Remembers records, none of them twice, and returns those that are new. The caller holds their eSIMs' locks. */
export async function rememberNew<
  Reported extends { iccid: string; record_id: string; bytes: number; at: number },
>(tx: Queryable, records: readonly Reported[]): Promise<Reported[]> {
  if (records.length === 0) return [];
  const seen = new Set(await insertUsageRecords(tx, records));
  return records.filter((_, index) => !seen.has(index));
}

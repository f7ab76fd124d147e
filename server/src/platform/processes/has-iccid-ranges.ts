import type { Queryable } from '../db/database.ts';
import { existsRange } from './sql.ts';
import { goneAfterMs } from './start-heartbeat.ts';

/** Whether a running process chooses ICCIDs from ranges of the operator. The API's processes need not have the setting. */
export function hasIccidRanges(db: Queryable): Promise<boolean> {
  return existsRange(db, goneAfterMs);
}

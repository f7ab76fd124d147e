import type { Queryable } from '../db/database.ts';
import { listReportRows } from './sql.ts';
import { goneAfterMs } from './start-heartbeat.ts';

export type { ReportRow } from './sql.ts';

/** What the running processes reported last. */
export function readReports(db: Queryable) {
  return listReportRows(db, goneAfterMs);
}

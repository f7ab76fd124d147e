import type { Queryable } from '../db/database.ts';
import { listReportRows } from './sql/list-reports.ts';
import { goneAfterMs } from './start-heartbeat.ts';

export type { ReportRow } from './sql/list-reports.ts';

/** What the running processes reported last. */
export function readReports(db: Queryable) {
  return listReportRows(db, goneAfterMs);
}

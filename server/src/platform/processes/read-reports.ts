import { idPrefixes, type OperatorOverview } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';
import { idOfUuid } from '../ids/uuid.ts';
import { stateOf } from './clock-skew.ts';
import { existsRange, listReportRows, type ReportRow } from './sql.ts';
import { goneAfterMs } from './start-heartbeat.ts';

export type { ReportRow } from './sql.ts';

/** What the running processes reported last. */
export function readReports(db: Queryable) {
  return listReportRows(db, goneAfterMs);
}

/** Whether a running process chooses ICCIDs from ranges of the operator. The API's processes need not have the setting. */
export function hasIccidRanges(db: Queryable): Promise<boolean> {
  return existsRange(db, goneAfterMs);
}

/** The processes whose clock is worth a warning. */
export function clocksOffIn(reports: ReportRow[]): OperatorOverview['clocks_off'] {
  return reports.flatMap(({ id, host, report: { clock_skew_ms } }) =>
    clock_skew_ms === undefined || stateOf(clock_skew_ms) === 'right'
      ? []
      : [{ process_id: idOfUuid(idPrefixes.process, id), host, clock_skew_ms }],
  );
}

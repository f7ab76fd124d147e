import type { Queryable } from '../../db/database.ts';
import type { ProcessReport } from '../report.ts';

/** A process of another release may report less, or more. */
export type ReportRow = { id: string; host: string; seen_at: Date; report: Partial<ProcessReport> };

// Far above any deployment: bounds the memory of one request.
const maxProcesses = 1_000;

/** What the running processes reported last. */
export function listReportRows(db: Queryable, aliveMs: number): Promise<ReportRow[]> {
  return db.query(
    {
      name: 'process_list_reports',
      text: `
select id, host, seen_at, report
from processes
where seen_at >= now() - $1 * interval '1 ms'
order by id
limit ${maxProcesses}`,
    },
    [aliveMs],
  );
}

import type { Queryable } from '../platform/db/database.ts';
import { clocksOffIn, readReports } from '../platform/processes/read-reports.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Compares the clocks of the running processes with PostgreSQL's, as their last heartbeats reported them. */
export async function examineClocks(db: Queryable): Promise<Finding[]> {
  const reports = await readReports(db);
  if (reports.length === 0) return [];
  const off = clocksOffIn(reports);
  if (off.length === 0) return [ok('clocks', `all ${reports.length} are right by the database’s clock`)];
  const each = off.map(({ process_id, host, clock_skew_ms: ms }) => {
    const where = ms > 0 ? 'ahead' : 'behind';
    return `${process_id} on ${host} is ${Math.round(Math.abs(ms) / 1000)} s ${where}`;
  });
  return [
    warning(
      'clocks',
      `${each.join(', ')}; run NTP on these machines and on PostgreSQL’s. Beyond 30 s a process does no background work`,
    ),
  ];
}

import { databaseMs } from '../db/database-clock.ts';
import { exists, many, one, run } from '../db/statement.ts';
import type { ProcessReport } from './report.ts';

export type Heartbeat = {
  uuid: string;
  role: 'all' | 'api' | 'worker';
  version: string;
  host: string;
  pid: number;
  /** How long the process has run, by its own clock: only the database's says when that began. */
  uptimeMs: number;
  report: object;
};

/** Stores that a process runs, and removes those that have not reported for long. Returns the database's time, and whether others run. */
export const storeHeartbeat = one<
  { now_ms: number; is_alone: boolean },
  [heartbeat: Heartbeat, goneAfterMs: number]
>('process_store_heartbeat', (beat, goneAfterMs) => [
  beat.uuid,
  beat.role,
  beat.version,
  beat.host,
  beat.pid,
  beat.uptimeMs,
  JSON.stringify(beat.report),
  goneAfterMs,
])`
with gone as (
  delete from processes
  where id <> $1 and seen_at < now() - $8 * interval '1 ms'
)
insert into processes (id, role, version, host, pid, started_at, seen_at, report)
values ($1, $2, $3, $4, $5, now() - $6 * interval '1 ms', now(), $7)
on conflict (id) do update
set seen_at = excluded.seen_at,
    report = excluded.report
returning ${databaseMs} as now_ms,
  not exists (select from processes other where other.id <> $1 and other.seen_at >= now() - $8 * interval '1 ms') as is_alone`;

export const removeProcess = run<[uuid: string]>('process_remove')`
delete from processes
where id = $1`;

/** A process of another release may report less, or more. */
export type ReportRow = { id: string; host: string; seen_at: Date; report: Partial<ProcessReport> };

// Far above any deployment: bounds the memory of one request.
const maxProcesses = 1_000;

/** What the running processes reported last. */
export const listReportRows = many<ReportRow, [aliveMs: number]>('process_list_reports')`
select id, host, seen_at, report
from processes
where seen_at >= now() - $1 * interval '1 ms'
order by id
limit ${maxProcesses}`;

export const existsRange = exists<[aliveMs: number]>('process_exists_range')`
select
from processes
where seen_at >= now() - $1 * interval '1 ms'
  and jsonb_array_length(report -> 'iccid_ranges') > 0
limit 1`;

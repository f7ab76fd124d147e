import type { Queryable } from '../../db/database.ts';
import { databaseMs } from '../../db/database-clock.ts';

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

/** Stores that a process runs, and removes those that have not reported for long. Returns the database's time. */
export async function storeHeartbeat(
  db: Queryable,
  { uuid, role, version, host, pid, uptimeMs, report }: Heartbeat,
  goneAfterMs: number,
): Promise<number> {
  const [row] = await db.query<{ now_ms: number }>(
    {
      name: 'process_store_heartbeat',
      text: `
with gone as (
  delete from processes
  where id <> $1 and seen_at < now() - $8 * interval '1 ms'
)
insert into processes (id, role, version, host, pid, started_at, seen_at, report)
values ($1, $2, $3, $4, $5, now() - $6 * interval '1 ms', now(), $7)
on conflict (id) do update
set seen_at = excluded.seen_at,
    report = excluded.report
returning ${databaseMs} as now_ms`,
    },
    [uuid, role, version, host, pid, uptimeMs, JSON.stringify(report), goneAfterMs],
  );
  return (row as { now_ms: number }).now_ms;
}

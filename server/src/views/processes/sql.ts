import { many } from '../../platform/db/statement.ts';
import type { Heartbeat } from '../../platform/processes/start-heartbeat.ts';

export type ProcessRow = Pick<Heartbeat, 'role' | 'version' | 'host' | 'pid'> & {
  id: string;
  started_at: Date;
  seen_at: Date;
  /** Null if it runs a release that does not report it. */
  clock_skew_ms: number | null;
};

/** Processes with a recent heartbeat, by the database's clock; newest first. */
export const listProcessRows = many<ProcessRow, [beforeUuid: string, aliveMs: number, count: number]>(
  'process_list',
)`
select id, role, version, host, pid, started_at, seen_at,
  (report -> 'clock_skew_ms')::bigint as clock_skew_ms
from processes
where id < $1 and seen_at >= now() - $2 * interval '1 ms'
order by id desc
limit $3`;

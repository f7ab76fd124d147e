import type { Queryable } from '../../../platform/db/database.ts';
import { beforeFirst } from '../../../platform/lists/keyset.ts';
import type { Heartbeat } from '../../../platform/processes/start-heartbeat.ts';

export type ProcessRow = Pick<Heartbeat, 'role' | 'version' | 'host' | 'pid'> & {
  id: string;
  started_at: Date;
  seen_at: Date;
  /** Null if it runs a release that does not report it. */
  clock_skew_ms: number | null;
};

/** Processes with a recent heartbeat, by the database's clock; newest first. */
export function listProcessRows(
  db: Queryable,
  aliveMs: number,
  page: { beforeUuid: string | null; count: number },
): Promise<ProcessRow[]> {
  return db.query(
    {
      name: 'process_list',
      text: `
select id, role, version, host, pid, started_at, seen_at,
  (report -> 'clock_skew_ms')::bigint as clock_skew_ms
from processes
where id < $1 and seen_at >= now() - $2 * interval '1 ms'
order by id desc
limit $3`,
    },
    [page.beforeUuid ?? beforeFirst, aliveMs, page.count],
  );
}

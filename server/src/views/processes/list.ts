import { type InputFor, idPrefixes, type Process } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import { goneAfterMs } from '../../platform/processes/start-heartbeat.ts';
import { listProcessRows, type ProcessRow } from './sql.ts';

export function listProcesses({ db }: Pick<OperatorContext, 'db'>, { query }: InputFor<'listProcesses'>) {
  return readPageById(query, {
    scope: { list: 'processes', accountId: '', filters: {} },
    read: (beforeUuid, count) => listProcessRows(db, beforeUuid, goneAfterMs, count),
    present,
  });
}

function present(row: ProcessRow): Process {
  return {
    id: idOfUuid(idPrefixes.process, row.id),
    object: 'process',
    role: row.role,
    version: row.version,
    host: row.host,
    pid: row.pid,
    since: unixSeconds(row.started_at),
    last_seen_at: unixSeconds(row.seen_at),
    clock_skew_ms: row.clock_skew_ms,
  };
}

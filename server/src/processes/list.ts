import { type InputOf, idPrefixes, type Operations, type Process } from '@simplane/contract';
import { unixSeconds } from '../clock.ts';
import type { OperatorContext } from '../context.ts';
import { idOfUuid } from '../ids/uuid.ts';
import { readPage } from '../lists/read-page.ts';
import { listProcessRows, type ProcessRow } from './sql/list-processes.ts';
import { goneAfterMs } from './start-heartbeat.ts';

export function listProcesses(
  { db }: Pick<OperatorContext, 'db'>,
  { query }: InputOf<Operations['listProcesses']>,
) {
  return readPage(query, {
    scope: { list: 'processes', accountId: '', filters: {} },
    read: (beforeUuid, count) => listProcessRows(db, goneAfterMs, { beforeUuid, count }),
    positionOf: (row) => row.id,
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

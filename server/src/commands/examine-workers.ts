import type { Config } from '../config/settings.ts';
import type { Connection } from '../platform/db/connect.ts';
import { countWorkers } from '../platform/db/examine-server.ts';
import { readQueues } from '../platform/db/queues.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

// A worker claims due work within about two seconds, even if it is not notified.
const lateSeconds = 10;
const start = 'start a process with SIMPLANE_ROLE=worker or all';

/** Checks that somebody processes the orders and deliveries that are due. */
export async function examineWorkers(connection: Connection, config: Config): Promise<Finding> {
  const [workers, queues] = await Promise.all([countWorkers(connection.db), readQueues(connection.db)]);
  const due = queues.filter(({ oldest_due_seconds }) => oldest_due_seconds > 0);
  const late = due.filter(({ oldest_due_seconds }) => oldest_due_seconds >= lateSeconds);
  const waiting = (late.length > 0 ? late : due)
    .map(({ queue, oldest_due_seconds }) => `${queue} have been due for ${durationOf(oldest_due_seconds)}`)
    .join(', ');
  // This command started the embedded PostgreSQL itself, so the service is not running.
  if (connection.isOnlyUser) {
    return due.length === 0
      ? ok('workers', 'the service is not running; nothing is due')
      : warning('workers', `${waiting}; they continue when the service starts`);
  }
  const isCountable = !connection.isPooled || config.databaseDirectUrl !== null;
  if (isCountable && workers === 0) {
    return due.length === 0
      ? warning('workers', `none is connected, so new orders will wait; ${start}`)
      : problem('workers', `none is connected and ${waiting}; ${start}`);
  }
  const connected = isCountable ? `${workers} connected` : 'cannot be counted behind a pooler';
  return late.length === 0
    ? ok('workers', `${connected}; nothing is overdue`)
    : problem('workers', `${connected}, but ${waiting}; check their logs, and what \`/readyz\` of each says`);
}

function durationOf(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

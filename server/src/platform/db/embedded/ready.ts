import pg from 'pg';
import { errorCode } from './failure.ts';
import { poll } from './poll.ts';
import { type Access, connectionStringFor } from './socket-folder.ts';

// Replaying the log after a crash can take minutes. If postgres exits, the caller notices at once.
const recoveryBoundMs = 300_000;

/** Waits until postgres answers and the database exists. The caller aborts if postgres exits first. */
export async function waitUntilReady(access: Access, database: string, over: AbortSignal): Promise<'ready'> {
  const answer = await poll(async () => over.aborted || ensureDatabase(access, database), {
    timeoutMs: recoveryBoundMs,
    everyMs: 5,
  });
  if (answer === null) throw new Error(`no answer on its socket within ${recoveryBoundMs / 1000} s`);
  return 'ready';
}

async function ensureDatabase(access: Access, database: string): Promise<'ready' | null> {
  const client = new pg.Client({
    connectionString: connectionStringFor(access, 'postgres'),
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const found = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(database)}`);
    return 'ready';
  } catch (error) {
    if (isNotYet(error)) return null;
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** No socket yet, no listener yet, or "the database system is starting up". */
function isNotYet(error: unknown): boolean {
  const code = errorCode(error);
  return code === undefined || ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03'].includes(code);
}

import { commandLine } from '../accounts/audit/record.ts';
import type { Origin } from '../accounts/context.ts';
import type { Config } from '../config/settings.ts';
import type { Clock } from '../platform/clock.ts';
import { type Connection, connect } from '../platform/db/connect.ts';
import { createDatabaseClock, readDatabaseMs } from '../platform/db/database-clock.ts';
import { ensureMode, prepareDatabase } from '../platform/db/prepare-database.ts';
import { createUuidV7 } from '../platform/ids/uuid-v7.ts';
import { escapeInLines } from './escape-controls.ts';

const say = (text: string) => void process.stderr.write(`${escapeInLines(text)}\n`);

/** What commands work with. As an `Origin`, it is the command line in the audit log. */
export type Tools = Pick<Connection, 'db' | 'connectionString'> &
  Origin & {
    config: Config;
    mode: Config['mode'];
    cell: Config['cell'];
    clock: Clock;
    newUuid: ReturnType<typeof createUuidV7>;
  };

/** Migrates the deployment's database and runs a command on it. The service may be running at the same time. */
export async function withDatabase<T>(config: Config, command: (tools: Tools) => Promise<T>): Promise<T> {
  const connection = await connect({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    poolSize: 2,
    share: true,
    waitMs: 0,
    onError: (error) => say(`database connection lost: ${error.message}`),
  });
  try {
    const clock = createDatabaseClock();
    await clock.measure(() => readDatabaseMs(connection.db));
    await prepareDatabase(connection, say);
    const { db, connectionString } = connection;
    await ensureMode(db, config.mode);
    return await command({
      ...commandLine,
      config,
      mode: config.mode,
      cell: config.cell,
      db,
      connectionString,
      clock,
      newUuid: createUuidV7(clock),
    });
  } finally {
    await connection.close();
  }
}

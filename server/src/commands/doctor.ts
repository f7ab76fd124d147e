import { countProducts } from '../accounts/products/sql.ts';
import { listAccountRows } from '../accounts/sql/accounts.ts';
import { listKeyRows } from '../accounts/sql/keys.ts';
import type { Config } from '../config/settings.ts';
import { type Connection, connect } from '../platform/db/connect.ts';
import type { Database } from '../platform/db/database.ts';
import { readServerState } from '../platform/db/examine-server.ts';
import { pendingMigrations } from '../platform/db/migrate.ts';
import { examineClocks } from './examine-clocks.ts';
import { examineConnection, examineHosts } from './examine-connection.ts';
import { examineSealing } from './examine-sealing.ts';
import { examineSmdp } from './examine-smdp.ts';
import { examineWorkers } from './examine-workers.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { print } from './print.ts';

/** Prints the findings. The exit code is 1 if any of them is a problem. */
export async function doctorCommand(
  config: Config,
  warnings: string[],
  options: { json: boolean },
): Promise<number> {
  const findings = await examine(config, warnings);
  print(findings, options);
  return findings.some(({ verdict }) => verdict === 'problem') ? 1 : 0;
}

/** Checks everything a deployment needs. Changes nothing. */
async function examine(config: Config, warnings: string[]): Promise<Finding[]> {
  const findings = [
    examineNode(),
    ...examineSettings(config, warnings),
    ...(await examineSmdp(config)),
    ...(await examineHosts(config)),
  ];
  let connection: Connection;
  try {
    connection = await connect({ ...config, poolSize: 1, share: true, waitMs: 0, onError: () => {} });
  } catch (error) {
    return [...findings, problem('database', `cannot be opened: ${(error as Error).message}`)];
  }
  try {
    return [
      ...findings,
      ...(await examineConnection(connection, config)),
      ...(await examineDatabase(connection, config)),
    ];
  } finally {
    await connection.close();
  }
}

function examineNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19)
    ? ok('node', process.version)
    : problem('node', `${process.version} is too old; install 20.19 or newer`);
}

function examineSettings(config: Config, warnings: string[]): Finding[] {
  const database = config.databaseUrl ? 'DATABASE_URL' : `embedded PostgreSQL in ${config.dataDir}`;
  const cell = config.cell === null ? '' : `cell ${config.cell}, `;
  return [
    ok('settings', `mode ${config.mode}, role ${config.role}, ${cell}${database}`),
    ...warnings.map((says) => warning('settings', says)),
  ];
}

async function examineDatabase(connection: Connection, config: Config): Promise<Finding[]> {
  const { db } = connection;
  const state = await readServerState(db);
  const unsafe = (['fsync', 'synchronous_commit', 'full_page_writes'] as const).filter(
    (name) => state[name] === 'off',
  );
  const skewMs = Math.abs(state.database_now.getTime() - Date.now());
  const freeConnections = state.max_connections - state.connections;
  const wanted = config.processes * config.databasePoolSize;
  const findings = [
    ok('database', `PostgreSQL ${state.version}`),
    unsafe.length === 0
      ? ok('durability', 'commits are on disk before they are acknowledged')
      : problem('durability', `accepted orders can be lost: turn on ${unsafe.join(', ')}`),
    skewMs < 2_000
      ? ok('clock', `within ${skewMs} ms of the database’s clock`)
      : warning('clock', `${Math.round(skewMs / 1000)} s off the database’s clock; run NTP on both machines`),
    freeConnections >= wanted
      ? ok('connections', `${freeConnections} of ${state.max_connections} are free`)
      : warning(
          'connections',
          `only ${freeConnections} are free, but SIMPLANE_PROCESSES × SIMPLANE_DATABASE_POOL_SIZE is ${wanted}; raise max_connections or lower the pool size`,
        ),
  ];
  const pending = await pendingMigrations(db.pool);
  if (pending.length > 0) {
    return [
      ...findings,
      warning(
        'schema',
        `${pending.length} pending migrations; \`migrate\` or the next \`serve\` applies them`,
      ),
    ];
  }
  return [
    ...findings,
    ok('schema', 'up to date'),
    await examineSealing(db, config),
    await examineWorkers(connection, config),
    ...(await examineClocks(db)),
    ...(await examineContents(db, config, state.database_now)),
  ];
}

async function examineContents(db: Database, { mode }: Config, now: Date): Promise<Finding[]> {
  const [accounts, keys, products] = await Promise.all([
    listAccountRows(db),
    listKeyRows(db, null),
    countProducts(db),
  ]);
  const usable = keys.filter((key) => !key.revoked_at && (!key.expires_at || key.expires_at > now));
  const sandboxRemedy = mode === 'sandbox' ? 'the first `serve` creates one' : null;
  return [
    accounts.length > 0
      ? ok('accounts', `${accounts.length}`)
      : warning('accounts', `none; ${sandboxRemedy ?? 'create one with `accounts create --name …`'}`),
    usable.length > 0
      ? ok('keys', `${usable.length} usable`)
      : warning('keys', `none usable; ${sandboxRemedy ?? 'create one with `keys create`'}`),
    products > 0
      ? ok('catalog', `${products} products`)
      : warning(
          'catalog',
          `empty; ${mode === 'sandbox' ? 'the first `serve` fills it' : 'load yours with `catalog import FILE`'}`,
        ),
  ];
}

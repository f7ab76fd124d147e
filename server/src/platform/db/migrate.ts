import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { applyInBatches, isInBatches } from './apply-in-batches.ts';
import { buildIndexes, isConcurrent } from './build-indexes.ts';
import { parseConnectionUrl } from './connection-url.ts';
import { endClient } from './end-client.ts';
import { beginLocked, lockWaitMs, retryForLocks, type Wait, waitForMigration } from './migration-lock.ts';
import { openWritable } from './open-client.ts';
import { applicationName, listMigrations, migrationsFolder } from './schema-version.ts';

type Migration = {
  version: number;
  name: string;
  text: string;
  checksum: string;
  /** Older processes cannot run on the new schema: the file has a line `-- stop-older-processes`. */
  stopsOlder: boolean;
};

type Options = {
  /** Defaults to the release's own migrations. */
  folder?: URL;
  /** How long to wait for another process's lock. An index on a large table can take longer; then start again later. */
  lockTimeoutMs?: number;
  /** Called with the process we wait for. */
  onWait?(says: string): void;
};

/**
 * Applies the missing migrations in order, each in its own transaction. Safe when many processes start at once: one migrates,
 * the others wait. Throws if a newer release migrated the database to a schema this release cannot use.
 */
export async function migrate(
  connectionString: string,
  options: Options = {},
): Promise<{ applied: string[] }> {
  const { folder = migrationsFolder, lockTimeoutMs = 60_000, onWait = () => {} } = options;
  const migrations = await readMigrations(folder);
  const newest = migrations.at(-1)?.version ?? 0;
  // Its own connection, without the pool's timeouts, because an index on a large table can take long.
  const connect = async () => {
    const name = { applicationName: applicationName('migrate', newest) };
    return (await openWritable(parseConnectionUrl(connectionString), name)).client;
  };
  const client = await connect();
  try {
    const wait = { boundMs: lockTimeoutMs, onWait };
    await waitForMigration(client, wait);
    const missing = missingFrom(await readApplied(client), migrations);
    if (missing.length > 0) await ensureTable(client, wait);
    const applied: string[] = [];
    for (const migration of missing) {
      if (await apply({ client, connect, wait }, migration, migrations)) applied.push(migration.name);
    }
    return { applied };
  } finally {
    await endClient(client);
  }
}

/** The migrations that the database still lacks. */
export async function pendingMigrations(pool: pg.Pool): Promise<string[]> {
  const migrations = await readMigrations(migrationsFolder);
  return missingFrom(await readApplied(pool), migrations).map(({ name }) => name);
}

type Applied = { version: number; name: string; checksum: string; stops_older: boolean };

/** Empty if no migration ever ran. */
async function readApplied(runner: pg.Pool | pg.Client): Promise<Applied[]> {
  const { rows } = await runner.query<{ known: boolean }>(
    `select to_regclass('schema_migrations') is not null as known`,
  );
  if (!rows[0]?.known) return [];
  // Read as JSON, because a table from an older release lacks the last column until the next migration.
  const { rows: applied } = await runner.query<Applied>(
    `select version, name, checksum, coalesce(to_jsonb(m) ->> 'stops_older' = 'true', false) as stops_older
     from schema_migrations m order by version`,
  );
  return applied;
}

/** Throws if this release cannot use the database's schema. */
function missingFrom(applied: Applied[], migrations: Migration[]): Migration[] {
  const newest = migrations.at(-1)?.version ?? 0;
  const tooNew = applied.find(({ version, stops_older }) => stops_older && version > newest);
  if (tooNew) {
    throw new Error(
      `this database was migrated by a newer release (${tooNew.name}) and older releases can no longer use it: start the newer release, or restore an earlier backup`,
    );
  }
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]));
  for (const { version, name, checksum } of migrations) {
    if (checksums.has(version) && checksums.get(version) !== checksum) {
      throw new Error(
        `migration ${name} was changed after it ran on this database; add a new migration instead`,
      );
    }
  }
  return migrations.filter(({ version }) => !checksums.has(version));
}

async function ensureTable(client: pg.Client, wait: Wait): Promise<void> {
  const { rows } = await client.query<{ complete: boolean }>(
    `select exists (select from pg_attribute
       where attrelid = to_regclass('schema_migrations') and attname = 'stops_older' and not attisdropped) as complete`,
  );
  if (rows[0]?.complete) return;
  await beginLocked(client, wait);
  await inTransaction(client, async () => {
    await client.query(`create table if not exists schema_migrations (
      version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`);
    await client.query(
      'alter table schema_migrations add column if not exists stops_older boolean not null default false',
    );
  });
}

/** False if another process applied it while we waited for the lock. */
async function apply(
  { client, connect, wait }: { client: pg.Client; connect(): Promise<pg.Client>; wait: Wait },
  migration: Migration,
  all: Migration[],
): Promise<boolean> {
  const { version, name, text, checksum, stopsOlder } = migration;

  function inLockedTransaction<T>(work: () => Promise<T>): Promise<T | null> {
    return retryForLocks(() => tryOnce(work), `migration ${name}`, wait);
  }

  async function tryOnce<T>(work: () => Promise<T>): Promise<T | null> {
    await beginLocked(client, wait);
    return inTransaction(client, async () => {
      if (!missingFrom(await readApplied(client), all).includes(migration)) return null;
      if (stopsOlder) await refuseOlderProcesses(client, migration);
      // The role may have timeouts for statements that serve requests.
      await client.query(
        `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local enable_seqscan = on;
         set local lock_timeout = ${lockWaitMs}`,
      );
      const result = await work().catch((error: Error) => {
        throw new Error(`migration ${name} failed: ${error.message}`, { cause: error });
      });
      // One may have started in the meantime.
      if (stopsOlder) await refuseOlderProcesses(client, migration);
      return result;
    });
  }

  async function record(): Promise<void> {
    await client.query(
      'insert into schema_migrations (version, name, checksum, stops_older) values ($1, $2, $3, $4)',
      [version, name, checksum, stopsOlder],
    );
  }

  if (isInBatches(text)) {
    return applyInBatches({ client, migration, inLockedTransaction, record, onNotice: wait.onWait });
  }
  const applied = await inLockedTransaction(async () => {
    // This transaction holds the migration lock meanwhile. It has read, but holds no snapshot that the build would wait for.
    if (isConcurrent(text)) await onOther(connect, (other) => buildIndexes(other, text));
    else await client.query(text);
    await record();
    return true;
  });
  return applied === true;
}

/** Runs `work` on a connection of its own. */
async function onOther(connect: () => Promise<pg.Client>, work: (client: pg.Client) => Promise<void>) {
  const other = await connect();
  try {
    await work(other);
  } finally {
    await endClient(other);
  }
}

/** Runs `work`, then commits the open transaction, or rolls it back on an error. */
async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {}); // the first error is more useful
    throw error;
  }
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  return Promise.all(
    listMigrations(folder).map(async ({ version, name }) => {
      const text = await readFile(new URL(name, folder), 'utf8');
      return {
        version,
        name,
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
        stopsOlder: /^-- stop-older-processes\b/m.test(text),
      };
    }),
  );
}

type Row = { name: string; address: string; count: number };

/**
 * Throws if processes are connected that do not know this version of the schema. Their connections are named
 * `simplane/<newest known migration>`; earlier releases used just `simplane`.
 */
async function refuseOlderProcesses(
  client: pg.Client,
  migration: { name: string; version: number },
): Promise<void> {
  // Within a transaction, pg_stat_activity is a snapshot until it is cleared.
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<Row>(
    `select application_name as name, coalesce(host(client_addr), 'a local socket') as address, count(*)::int as count
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and application_name ~ '^simplane([ /]|$)' and application_name !~ ' (migrate|check)$'
       and coalesce(substring(application_name from '^simplane/(\\d{1,9})')::int, 0) < $1
     group by 1, 2 order by 1, 2`,
    [migration.version],
  );
  if (rows.length === 0) return;
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  const from = rows.map(({ name, address, count }) => `${count} as "${name}" from ${address}`).join(', ');
  throw new Error(
    `migration ${migration.name} breaks processes of older releases, and ${total} of their connections are open: ${from}. Stop all older processes, then start again; nothing was changed. If a pooler keeps connections of stopped processes, reconnect it (PgBouncer: RECONNECT)`,
  );
}

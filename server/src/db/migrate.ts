import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { parseConnectionUrl } from './connection-url.ts';
import { openWritable } from './open-client.ts';
import { applicationName, listMigrations, migrationsFolder } from './schema-version.ts';

// Any constant does, as long as every version of this program uses the same one.
const lockId = 7_305_124_801;

type Migration = { version: number; name: string; text: string; checksum: string };

/** Applies what is missing, in order, each in its own transaction. Safe when many processes start at once: one works, the others wait. */
export async function migrate(connectionString: string): Promise<{ applied: string[] }> {
  const migrations = await readMigrations();
  // Its own connection, without the pool's time limits: an index on a large table takes as long as it takes.
  const { client } = await openWritable(parseConnectionUrl(connectionString), {
    applicationName: applicationName('migrate'),
  });
  try {
    await client.query('select pg_advisory_lock($1)', [lockId]);
    return { applied: await applyMissing(client, migrations) };
  } finally {
    await client.end(); // the lock ends with the session
  }
}

/** Which migrations this program has and the database lacks. */
export async function pendingMigrations(pool: pg.Pool): Promise<string[]> {
  const migrations = await readMigrations();
  const { rows } = await pool.query<{ known: boolean }>(
    `select to_regclass('schema_migrations') is not null as known`,
  );
  const applied = rows[0]?.known ? await appliedVersions(pool) : new Map<number, string>();
  return migrations.filter(({ version }) => !applied.has(version)).map(({ name }) => name);
}

async function applyMissing(client: pg.Client, migrations: Migration[]): Promise<string[]> {
  await client.query(`create table if not exists schema_migrations (
    version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`);
  const applied = await appliedVersions(client);
  const done: string[] = [];
  for (const migration of migrations) {
    const checksum = applied.get(migration.version);
    if (checksum === undefined) {
      await apply(client, migration);
      done.push(migration.name);
    } else if (checksum !== migration.checksum) {
      throw new Error(
        `migration ${migration.name} was changed after it ran on this database; add a new migration instead`,
      );
    }
  }
  return done;
}

async function apply(client: pg.Client, { version, name, text, checksum }: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(text);
    await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
      version,
      name,
      checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}

async function appliedVersions(runner: pg.Pool | pg.Client): Promise<Map<number, string>> {
  const { rows } = await runner.query<{ version: number; checksum: string }>(
    'select version, checksum from schema_migrations',
  );
  return new Map(rows.map(({ version, checksum }) => [version, checksum]));
}

async function readMigrations(): Promise<Migration[]> {
  return Promise.all(
    listMigrations(migrationsFolder).map(async ({ version, name }) => {
      const text = await readFile(new URL(name, migrationsFolder), 'utf8');
      return { version, name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/platform/db/embedded/start.ts';

type TestPostgres = {
  /** The database `template`, empty. */
  templateUrl: string;
  /** From now on it can be cloned: PostgreSQL does that only while no session is connected to it. */
  sealTemplate(): Promise<void>;
  /** Calls `use` with a clone of the template, and removes it. */
  withClone(use: (url: string) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
};

/** An embedded PostgreSQL, or the one at `TEST_DATABASE_URL`, whose role must be a superuser. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const external = process.env['TEST_DATABASE_URL'];
  const { templateUrl, stop } = external ? await prepareExternal(external) : await startEmbedded();
  const seal = 'alter database template with is_template true allow_connections false';
  const adminUrl = databaseOf(templateUrl, 'postgres');
  return {
    ...{ templateUrl, stop },
    sealTemplate: () => run(adminUrl, seal),
    async withClone(use) {
      await run(adminUrl, 'drop database if exists cloned with (force)'); // of a run that was killed
      await run(adminUrl, 'create database cloned template template');
      await use(databaseOf(templateUrl, 'cloned'));
      await run(adminUrl, 'drop database cloned with (force)');
    },
  };
}

async function startEmbedded() {
  const dataDir = await mkdtemp(join(await folderOfDatabase(), 'simplane-test-'));
  const { connectionString: templateUrl, stop } = await startEmbeddedPostgres({
    dataDir,
    database: 'template',
    // Tests that kill PostgreSQL start their own; here fsync would only cost time.
    settings: { max_connections: '300', fsync: 'off', max_wal_size: '256MB' },
  });
  return {
    templateUrl,
    async stop() {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** In memory if there is plenty: cloning a database creates 456 files, which ext4 makes slow once others were deleted. */
async function folderOfDatabase(): Promise<string> {
  const memory = '/dev/shm';
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= 4 * 1024 ** 3 ? memory : tmpdir();
}

async function prepareExternal(url: string) {
  const adminUrl = databaseOf(url, 'postgres');
  await dropTemplate(adminUrl); // of a run that was killed
  await run(adminUrl, 'create database template');
  return { templateUrl: databaseOf(url, 'template'), stop: () => dropTemplate(adminUrl) };
}

async function dropTemplate(adminUrl: string): Promise<void> {
  await run(adminUrl, `update pg_database set datistemplate = false where datname = 'template'`);
  await run(adminUrl, 'drop database if exists template with (force)');
}

async function run(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

function databaseOf(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

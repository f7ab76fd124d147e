import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { bundlePrograms } from './bundle-programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A running PostgreSQL with the database `template` in it, migrated and seeded. */
    postgresUrl: string;
    /** The folder of the bundled programs. */
    programs: string;
  }
}

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Builds and bundles the programs that process tests start, and runs one PostgreSQL; each test file clones its own database. */
export default async function setUp(project: TestProject) {
  for (const script of [['node_modules/typescript/bin/tsc', '--build'], ['dashboard/build.js']])
    await promisify(execFile)(process.execPath, script, { cwd: root });
  const { startEmbeddedPostgres } = await import('../../src/db/embedded/start.ts');
  const { migrate } = await import('../../src/db/migrate.ts');

  const programs = await mkdtemp(join(tmpdir(), 'simplane-programs-'));
  await chmod(programs, 0o755); // some tests start a server as another user
  await bundlePrograms(programs);
  project.provide('programs', programs);
  process.env['FAULTS_PROGRAMS'] = programs;

  const dataDir = await mkdtemp(join(await folderOfDatabase(), 'simplane-test-'));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    database: 'template',
    // Tests that kill PostgreSQL start their own; here fsync would only cost time.
    settings: { max_connections: '300', fsync: 'off', max_wal_size: '256MB' },
  });
  await migrate(postgres.connectionString);
  await refuseConnections(postgres.connectionString);
  project.provide('postgresUrl', postgres.connectionString);

  return async () => {
    await postgres.stop();
    for (const folder of [dataDir, programs]) await rm(folder, { recursive: true, force: true });
  };
}

/** In memory if there is plenty: cloning a database creates 456 files, which ext4 makes slow once others were deleted. */
async function folderOfDatabase(): Promise<string> {
  const memory = '/dev/shm';
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= 4 * 1024 ** 3 ? memory : tmpdir();
}

/** PostgreSQL clones a template only while no session is connected to it. */
async function refuseConnections(connectionString: string): Promise<void> {
  const url = new URL(connectionString);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query('alter database template with is_template true allow_connections false');
  await client.end();
}

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { bundlePrograms } from './bundle-programs.ts';
import { keepCompiled } from './keep-compiled.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A running PostgreSQL with the database `template` in it, migrated and seeded. */
    postgresUrl: string;
    /** The folder of the bundled programs. */
    programs: string;
  }
}

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Builds and bundles the programs that process tests start, and provides one PostgreSQL; each test file clones its own database. */
export default async function setUp(project: TestProject) {
  for (const script of [
    ['node_modules/typescript/bin/tsc', '--build'],
    ['dashboard/build.js'],
    ['server/bundle.js'],
  ])
    await promisify(execFile)(process.execPath, script, { cwd: root });
  const { startTestPostgres } = await import('./test-postgres.ts');
  const { migrate } = await import('../../src/platform/db/migrate.ts');

  const programs = await mkdtemp(join(tmpdir(), 'simplane-programs-'));
  await chmod(programs, 0o755); // some tests start a server as another user
  await bundlePrograms(programs);
  project.provide('programs', programs);
  process.env['FAULTS_PROGRAMS'] = programs;

  const postgres = await startTestPostgres();
  await migrate(postgres.templateUrl);
  await postgres.sealTemplate();
  await postgres.withClone((url) => keepCompiled(programs, url));
  project.provide('postgresUrl', postgres.templateUrl);

  return async () => {
    await postgres.stop();
    await rm(programs, { recursive: true, force: true });
  };
}

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cloneDatabase } from '../support/database.ts';
import { spawnServer } from '../support/process.ts';
import { startService } from '../support/service.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-package-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('the packed server needs no other package but PostgreSQL, and has its pages and migrations', async () => {
  const packed = await run(process.execPath, [join(root, 'scripts/dist/pack-server.js'), folder]);
  await run('tar', ['xzf', packed.stdout.trim()], { cwd: folder });
  const database = await cloneDatabase();
  const file = join(folder, 'package/server/bin/simplane-server.js');
  const server = await spawnServer({ DATABASE_URL: database.url, SIMPLANE_DATA_DIR: folder }, { file });
  for (const path of ['/livez', '/dashboard', '/docs', '/openapi.json']) {
    expect([path, (await fetch(server.url + path)).status]).toEqual([path, 200]);
  }
  await server.end('SIGTERM');
  await database.drop();
});

test('the packed command line needs no other package', async () => {
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder, '--workspace', 'cli'], {
    cwd: root,
  });
  await run('tar', ['xzf', packed.stdout.trim()], { cwd: folder });
  const manifest = JSON.parse(await readFile(join(folder, 'package/package.json'), 'utf8'));
  expect(manifest).not.toHaveProperty('dependencies');
  const service = await startService();
  const env = { PATH: process.env['PATH'], SIMPLANE_API_KEY: service.key, SIMPLANE_BASE_URL: service.url };
  const program = join(folder, 'package', manifest.bin.simplane);
  const { stdout } = await run(program, ['products', 'list'], { env });
  expect(stdout).toContain('prod_europe_5gb_30d');
  await service.stop();
});

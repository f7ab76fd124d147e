import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Binaries } from './binaries.ts';
import { initialiseCluster } from './initialise.ts';
import { currentUser } from './system-user.ts';

const binaries: Binaries = { initdb: '/nowhere/initdb', postgres: '', majorVersion: '18', notice: null };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-initialise-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a start removes what interrupted ones have left unfinished, and nothing else beside the database', async () => {
  const kept = ['of-another.unfinished-1', 'postgres', 'postgres-18.1-linux-x64', 'postgres.saved'];
  for (const name of [...kept, 'postgres.unfinished-1', 'postgres.unfinished-2'])
    await mkdir(join(folder, name));
  await writeFile(join(folder, 'postgres/PG_VERSION'), '18\n');
  await initialiseCluster(join(folder, 'postgres'), binaries, currentUser());
  expect((await readdir(folder)).sort()).toEqual(kept);
});

test('a database that cannot be created leaves nothing', async () => {
  const cluster = join(folder, 'postgres');
  await expect(initialiseCluster(cluster, binaries, currentUser())).rejects.toThrow(
    `initdb could not be started while creating a database in ${cluster}.unfinished-`,
  );
  expect(await readdir(folder)).toEqual([]);
});

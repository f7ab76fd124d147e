import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFromProc, readFromPs, readProcess } from '../../src/platform/db/embedded/process-table.ts';
import { startEmbeddedPostgres } from '../../src/platform/db/embedded/start.ts';
import { hold } from './support/holder.ts';
import { eventually, exists, ownerFileOf, query, serverOf } from './support/observe.ts';
import { users } from './support/users.ts';
import { installedPackage, makeWorkspace, type Workspace } from './support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace();
});
afterAll(() => workspace.remove());

test('a cluster of another major version is refused, naming both', async () => {
  const dataDir = join(workspace.root, 'old');
  await mkdir(join(dataDir, 'postgres'), { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, 'postgres/PG_VERSION'), '15\n');
  await expect(startEmbeddedPostgres({ dataDir, packageDir: workspace.packageDir })).rejects.toThrow(
    /made by PostgreSQL 15; this release runs PostgreSQL 18[\s\S]*pg_dump/,
  );
  expect(await exists(ownerFileOf(dataDir))).toBe(false);
});

test('files that are not a cluster are left alone', async () => {
  const dataDir = join(workspace.root, 'foreign');
  await mkdir(join(dataDir, 'postgres'), { recursive: true });
  await writeFile(join(dataDir, 'postgres/notes.txt'), 'mine');
  await expect(startEmbeddedPostgres({ dataDir, packageDir: workspace.packageDir })).rejects.toThrow(
    /holds files but no PostgreSQL database/,
  );
  expect(await readdir(join(dataDir, 'postgres'))).toEqual(['notes.txt']);
});

test('a failing initdb is reported with its output and leaves no partial cluster', async () => {
  const packageDir = join(workspace.root, 'incomplete');
  await cp(installedPackage(), packageDir, { recursive: true, verbatimSymlinks: true });
  await rm(join(packageDir, 'native/share/postgresql/information_schema.sql'));
  const dataDir = join(workspace.root, 'own');
  await expect(startEmbeddedPostgres({ dataDir, packageDir })).rejects.toThrow(
    /initdb ended with code 1[\s\S]*information_schema\.sql[\s\S]*DATABASE_URL to a PostgreSQL 14/,
  );
  expect(await readdir(dataDir)).toEqual([]);
  await (await startEmbeddedPostgres({ dataDir, packageDir: workspace.packageDir })).stop();
});

test('a postgres that fails to start is reported with its output, and the folder is free again', async () => {
  const dataDir = join(workspace.root, 'own'); // of the test before: making a database takes longer than this test
  const options = { dataDir, packageDir: workspace.packageDir };
  await expect(startEmbeddedPostgres({ ...options, settings: { shared_buffers: 'plenty' } })).rejects.toThrow(
    /postgres ended with code 1[\s\S]*"shared_buffers": "plenty"/,
  );
  expect(await exists(ownerFileOf(dataDir))).toBe(false);
  await (await startEmbeddedPostgres(options)).stop();
});

test('a data folder that cannot be created is named in the error', async () => {
  const file = join(workspace.root, 'a-file');
  await writeFile(file, '');
  await expect(startEmbeddedPostgres({ dataDir: join(file, 'data') })).rejects.toThrow(
    /a-file\/data cannot be used/,
  );
});

describe.each(users)('as $title', (user) => {
  test('a start killed during initdb leaves the folder usable', async () => {
    const dataDir = await workspace.folder(`cut-short-${user.uid}`, user);
    const first = hold(workspace, user, { dataDir });
    await eventually('initdb is running', async () => {
      const draft = (await readdir(dataDir)).find((name) => name.startsWith('postgres.'));
      return draft !== undefined && (await exists(join(dataDir, draft, 'postgres/base')));
    });
    await first.kill();
    expect(await exists(join(dataDir, 'postgres'))).toBe(false);

    const second = hold(workspace, user, { dataDir });
    const { connectionString, dataDir: cluster } = await second.started();
    expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await serverOf(cluster)).not.toBeNull();
    await second.stop();
  });
});

test('both process look-ups identify a process consistently', async () => {
  const readers = process.platform === 'linux' ? [readFromProc, readFromPs] : [readProcess, readFromPs];
  for (const read of readers) {
    const [once, twice] = [await read(process.pid), await read(process.pid)];
    expect(once).toEqual(twice);
    expect(once?.command).toContain('node');
    expect((await read(process.ppid))?.started).not.toBe(once?.started);
    expect(await read(2 ** 22 + 1)).toBeNull();
  }
});

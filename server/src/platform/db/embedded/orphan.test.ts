import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPostgresOf, pidInLockFile, stopOrphan } from './orphan.ts';

let cluster: string;
beforeAll(async () => {
  cluster = await mkdtemp(join(tmpdir(), 'simplane-orphan-'));
});
afterAll(() => rm(cluster, { recursive: true }));

const running = (command: string) => ({ pid: 7, started: '1', command });

test.each([
  ['/opt/bin/postgres -D /data/postgres -c port=5432', true],
  ['/opt/bin/postgres -D /data/postgres-of-another -c port=5432', false],
  ['/opt/bin/postgres -D /data/postgres', false],
  ['/opt/bin/postgres --single -D /data/postgres postgres', false],
  ['vi /data/postgres/postgresql.conf', false],
])('only a server that this service started on this very folder is ended as an orphan: %s', (command, is) => {
  expect(isPostgresOf('/data/postgres', running(command))).toBe(is);
});

test.each([
  ['4711\n/data/postgres\n', 4711],
  ['-4711\n/data/postgres\n', 4711],
  ['0\n', null],
  ['', null],
  ['not a pid\n', null],
])(
  'the lock file names the process that has the cluster, also in single-user mode: %j',
  async (text, pid) => {
    await writeFile(join(cluster, 'postmaster.pid'), text);
    expect(await pidInLockFile(cluster)).toBe(pid);
  },
);

test('without a lock file no process has the cluster', async () => {
  expect(await pidInLockFile(join(cluster, 'not-there'))).toBeNull();
});

test('a program that got the pid in the lock file is named, so that postgres ignores it, and is not ended', async () => {
  await writeFile(join(cluster, 'postmaster.pid'), `${process.pid}\n`);
  expect(await stopOrphan(cluster)).toBe(process.pid);
  await writeFile(join(cluster, 'postmaster.pid'), '99999999\n');
  expect(await stopOrphan(cluster)).toBeNull();
});

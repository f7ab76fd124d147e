import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { isPostgresOf, pidInLockFile, stopOrphan } from './orphan.ts';
import { readProcess } from './process-table.ts';

vi.mock(import('./process-table.ts'), { spy: true });

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

/** A program that looks like the cluster's postgres, and does not end by SIGINT. */
async function startStubborn() {
  const script = `trap '' INT; echo ready; while :; do sleep 0.05; done`;
  const args = ['-c', script, '/opt/bin/postgres', '-D', cluster, '-c', 'port=5432'];
  const child = spawn('/bin/sh', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  await writeFile(join(cluster, 'postmaster.pid'), `${child.pid}\n`);
  return child;
}

test('a postgres that an earlier owner left is ended more forcibly if it does not end', async () => {
  const child = await startStubborn();
  const exited = once(child, 'exit');
  const steps: Parameters<typeof stopOrphan>[1] = [
    ['SIGINT', 100],
    ['SIGQUIT', 60_000],
    ['SIGKILL', 1],
  ];
  expect(await stopOrphan(cluster, steps)).toBeNull();
  expect(await exited).toEqual([null, 'SIGQUIT']);
});

test('a postgres that cannot be ended is named, so that no second one is started on its files', async () => {
  const { pid } = await startStubborn();
  await expect(stopOrphan(cluster, [['SIGINT', 50]])).rejects.toThrow(
    `An earlier postgres (process ${pid}) still runs on ${cluster}`,
  );
});

test('a process that got the pid of a postgres that has just ended is not ended', async () => {
  await writeFile(join(cluster, 'postmaster.pid'), `${process.pid}\n`);
  const ended = {
    pid: process.pid,
    started: 'before',
    command: `/opt/bin/postgres -D ${cluster} -c port=5432`,
  };
  vi.mocked(readProcess).mockResolvedValueOnce(ended);
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  onTestFinished(() => kill.mockRestore());
  expect(await stopOrphan(cluster)).toBeNull();
  expect(kill).not.toHaveBeenCalled();
});

test('a pid of which nothing can be read is named as long as the system has it, because postgres finds it too', async () => {
  await writeFile(join(cluster, 'postmaster.pid'), `${process.pid}\n`);
  vi.mocked(readProcess).mockResolvedValueOnce(null);
  expect(await stopOrphan(cluster)).toBe(process.pid);
});

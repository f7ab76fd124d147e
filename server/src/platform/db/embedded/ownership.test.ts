import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { passwordFile, readPassword } from './access.ts';
import { DataFolderInUse } from './failure.ts';
import { claimFolder, connectToRunning } from './ownership.ts';
import { readProcess } from './process-table.ts';

vi.mock(import('./process-table.ts'), { spy: true });

const killed = { pid: 2 ** 22 + 1, process_start: 'before' }; // Linux gives out none above 2^22

const patience = { timeout: 4_000 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-claim-'));
  vi.mocked(readProcess).mockClear();
});
afterEach(() => rm(folder, { recursive: true }));

test('a process that lost its claim on a folder does not remove that of the next owner', async () => {
  const claim = await claimFolder(folder);
  const path = join(folder, 'owner.json');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const next = JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), claim: 'of another process' });
  await writeFile(path, next);
  await claim.release();
  expect(await readFile(path, 'utf8')).toBe(next);
});

test('of two processes that find the owner gone, the slow one takes nothing from the other', async () => {
  const path = join(folder, 'owner.json');
  await writeFile(path, JSON.stringify(killed));
  const self = await readProcess(process.pid);
  let answer: (gone: null) => void = () => {};
  vi.mocked(readProcess)
    .mockResolvedValueOnce(self)
    .mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  const slow = claimFolder(folder);
  await vi.waitFor(() => expect(readProcess).toHaveBeenLastCalledWith(killed.pid), patience);
  await claimFolder(folder);
  const taken = await readFile(path, 'utf8');
  answer(null);
  await expect(slow).rejects.toThrow(DataFolderInUse);
  expect(await readFile(path, 'utf8')).toBe(taken);
});

test('only one at a time replaces an owner that is gone, and one killed while it did so is in nobody’s way', async () => {
  const path = join(folder, 'owner.json');
  const gone = JSON.stringify(killed);
  await writeFile(path, gone);
  const self = await readProcess(process.pid);
  await writeFile(`${path}.takeover`, JSON.stringify({ pid: self?.pid, process_start: self?.started }));
  const claiming = claimFolder(folder);
  const about = () => vi.mocked(readProcess).mock.calls.map(([pid]) => pid);
  const questionsAboutSelf = () => about().filter((pid) => pid === process.pid).length;
  await vi.waitFor(() => expect(questionsAboutSelf()).toBeGreaterThan(3), patience);
  expect(await readFile(path, 'utf8')).toBe(gone);
  await writeFile(`${path}.takeover`, gone);
  await claiming;
  expect(JSON.parse(await readFile(path, 'utf8')).pid).toBe(process.pid);
  expect(await readdir(folder)).toEqual(['owner.json']);
});

test('a password file that a power failure cut short is none, so the next start sets a new password', async () => {
  expect(await readPassword(folder)).toBeNull();
  const password = 'p'.repeat(43);
  await writeFile(passwordFile(folder), `${password}\n`);
  expect(await readPassword(folder)).toBe(password);
  await writeFile(passwordFile(folder), password.slice(0, 42));
  expect(await readPassword(folder)).toBeNull();
});

test('a password that cannot be read is not taken for one that is missing', async () => {
  await mkdir(passwordFile(folder));
  await expect(readPassword(folder)).rejects.toThrow("The database's password cannot be read");
});

test('a command finds the database of a process that runs and has said where it is', async () => {
  const self = await readProcess(process.pid);
  const owner = {
    pid: process.pid,
    process_start: self?.started,
    socket_dir: '/tmp/pg',
    database: 'simplane',
  };
  const found = async (change: object) => {
    await writeFile(join(folder, 'owner.json'), JSON.stringify({ ...owner, ...change }));
    return connectToRunning(folder);
  };
  const address = (user: string) =>
    `postgresql://${user}@localhost:5432/simplane?host=%2Ftmp%2Fpg&sslmode=disable`;
  expect(await found({})).toEqual({ connectionString: address('postgres'), pid: process.pid });
  for (const change of [{ socket_dir: null }, { database: null }, { process_start: 'before' }, killed])
    expect([change, await found(change)]).toEqual([change, null]);
  const password = 'p'.repeat(43);
  await writeFile(passwordFile(folder), password);
  expect((await found({}))?.connectionString).toBe(address(`postgres:${password}`));
});

test('the next owner learns of the socket folder that a killed one has left, and says where its own is', async () => {
  const path = join(folder, 'owner.json');
  await writeFile(path, JSON.stringify({ ...killed, socket_dir: '/tmp/left' }));
  const claim = await claimFolder(folder);
  expect(claim.abandonedSocketDir).toBe('/tmp/left');
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ socket_dir: null, database: null });
  await claim.publish({ socketDir: '/tmp/own', database: 'simplane' });
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
    ...{ pid: process.pid, socket_dir: '/tmp/own', database: 'simplane' },
  });
  await claim.release();
  expect(await readdir(folder)).toEqual([]);
});

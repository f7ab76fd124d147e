import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { passwordFile, readPassword } from './access.ts';
import { DataFolderInUse } from './failure.ts';
import { claimFolder } from './ownership.ts';
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

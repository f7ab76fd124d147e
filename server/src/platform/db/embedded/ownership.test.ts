import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { passwordFile, readPassword } from './access.ts';
import { claimFolder } from './ownership.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-claim-'));
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

test('a password file that a power failure cut short is none, so the next start sets a new password', async () => {
  expect(await readPassword(folder)).toBeNull();
  const password = 'p'.repeat(43);
  await writeFile(passwordFile(folder), `${password}\n`);
  expect(await readPassword(folder)).toBe(password);
  await writeFile(passwordFile(folder), password.slice(0, 42));
  expect(await readPassword(folder)).toBeNull();
});

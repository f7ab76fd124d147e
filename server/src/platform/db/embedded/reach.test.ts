import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeReachable } from './reach.ts';

test('a folder that is made can be entered by all, whatever the umask, and one that is there stays as it is', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'simplane-reach-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  const before = process.umask(0o077);
  onTestFinished(() => void process.umask(before));
  const folder = join(parent, 'made');
  const mode = async () => (await stat(folder)).mode & 0o777;
  await makeReachable(folder);
  expect(await mode()).toBe(0o755);
  await chmod(folder, 0o700);
  await makeReachable(folder);
  expect(await mode()).toBe(0o700);
});

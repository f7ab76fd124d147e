import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeSocketFolder, removeSocketFolder } from './socket-folder.ts';
import { currentUser } from './system-user.ts';

test('only a folder for sockets is removed, whatever the file of an earlier run names', async () => {
  const foreign = await mkdtemp(join(tmpdir(), 'not-for-sockets-'));
  onTestFinished(() => rm(foreign, { recursive: true, force: true }));
  await writeFile(join(foreign, 'notes.txt'), 'mine');
  await removeSocketFolder(foreign);
  expect(await readdir(foreign)).toEqual(['notes.txt']);

  const own = await makeSocketFolder(currentUser());
  await removeSocketFolder(own);
  await expect(readdir(own)).rejects.toThrow('ENOENT');
});

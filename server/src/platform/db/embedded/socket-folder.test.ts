import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { canEnter } from './reach.ts';
import { connectionStringFor, makeSocketFolder, removeSocketFolder } from './socket-folder.ts';
import { currentUser } from './system-user.ts';

vi.mock(import('./reach.ts'), { spy: true });

/** A temporary folder with this name, which ours is made in if it may be. */
async function useTemporary(name: (parent: string) => string): Promise<string> {
  const parent = await mkdtemp('/tmp/simplane-temporary-');
  onTestFinished(() => rm(parent, { recursive: true }));
  const folder = join(parent, name(parent));
  await mkdir(folder);
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

// What is left of the 103 bytes that the path of a socket may have on every system.
const longest = 103 - '/simplane-pg-XXXXXX/.s.PGSQL.5432'.length;
const ofLength = (bytes: number) => (parent: string) => 'x'.repeat(bytes - parent.length - 1);

test.each([
  ['as long as it may be', ofLength(longest), true],
  ['too long', ofLength(longest + 1), false],
  ['with a character that PostgreSQL reads as the end of a path', () => 'one, two', false],
])(
  'the socket is in the temporary folder, or in another one if that is not possible: %s',
  async (_, name, is) => {
    const temporary = await useTemporary(name);
    const folder = await makeSocketFolder(currentUser());
    onTestFinished(() => removeSocketFolder(folder));
    expect(dirname(folder) === temporary).toBe(is);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  },
);

test('a folder for sockets that its user cannot enter is removed, and the next one is tried', async () => {
  const temporary = await useTemporary(() => 'closed');
  vi.mocked(canEnter).mockResolvedValueOnce(false);
  const folder = await makeSocketFolder(currentUser());
  onTestFinished(() => removeSocketFolder(folder));
  expect([await readdir(temporary), dirname(folder)]).toEqual([[], '/tmp']);
});

test('the address of the database says all that the environment could change, and is a URL whatever is in it', () => {
  expect(connectionStringFor({ socketDir: '/tmp/pg', password: null }, 'simplane')).toBe(
    'postgresql://postgres@localhost:5432/simplane?host=%2Ftmp%2Fpg&sslmode=disable',
  );
  expect(connectionStringFor({ socketDir: '/tmp/pg', password: 'a/b@c' }, 'a "b"/c')).toBe(
    'postgresql://postgres:a%2Fb%40c@localhost:5432/a%20%22b%22%2Fc?host=%2Ftmp%2Fpg&sslmode=disable',
  );
});

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

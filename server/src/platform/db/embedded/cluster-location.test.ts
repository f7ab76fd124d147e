import { chmod, chown, lstat, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { handOver, locateCluster, prepareDataFolder } from './cluster-location.ts';
import { uidsInUse } from './process-table.ts';
import { currentUser, findUser } from './system-user.ts';

vi.mock(import('./process-table.ts'), { spy: true });
vi.mock(import('./system-user.ts'), { spy: true });

const isRoot = process.getuid?.() === 0;
const choosesUser = isRoot && (await findUser('simplane')) === null;

test.runIf(choosesUser)('a new database does not run as the user of another process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-cluster-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const locate = () => locateCluster(folder, join(folder, 'elsewhere'));
  const { user } = await locate();
  expect(user.uid).toBeGreaterThanOrEqual(50_000);
  const all = Array.from({ length: 10_000 }, (_, index) => 50_000 + index);
  vi.mocked(uidsInUse).mockResolvedValueOnce(new Set(all));
  await expect(locate()).rejects.toThrow('Found no unused uid from 50000 to 59999');
});

const someone = { uid: 65_534, gid: 65_534, name: 'user 65534', isNamed: true };

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-cluster-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

/** As if this process ran as that user. */
function runAs(user: typeof someone): void {
  vi.mocked(currentUser).mockReturnValue(user);
  onTestFinished(() => void vi.mocked(currentUser).mockRestore());
}

test('a data folder that is made is its owner’s alone, and one that is there stays as it is', async () => {
  runAs(someone);
  const folder = join(await newFolder(), 'new/data');
  await prepareDataFolder(folder);
  expect(await modeOf(folder)).toBe(0o700);
  await chmod(folder, 0o750);
  await prepareDataFolder(folder);
  expect(await modeOf(folder)).toBe(0o750);
});

test.runIf(isRoot)(
  'a data folder of root can be passed through, not listed; one of others stays theirs',
  async () => {
    const folder = join(await newFolder(), 'data');
    await prepareDataFolder(folder);
    expect(await modeOf(folder)).toBe(0o711);
    await chmod(folder, 0o700);
    await chown(folder, someone.uid, someone.gid);
    await prepareDataFolder(folder);
    expect(await modeOf(folder)).toBe(0o700);
  },
);

test('an ordinary user’s database is in the folder, and that of another user is refused', async () => {
  const folder = await newFolder();
  const me = { ...someone, uid: process.getuid?.() ?? 0 };
  const cluster = join(folder, 'postgres');
  // Root would have another user run it.
  runAs({ ...me, uid: me.uid === 0 ? 1 : me.uid });
  expect(await locateCluster(folder, join(folder, 'elsewhere'))).toMatchObject({ cluster, notice: null });
  await mkdir(cluster);
  runAs({ ...me, uid: me.uid + 1 });
  await expect(locateCluster(folder, join(folder, 'elsewhere'))).rejects.toThrow(
    `The database in ${cluster} belongs to user ${me.uid}, but this process runs as user 65534`,
  );
});

test.runIf(isRoot)(
  'a database that is handed over is its user’s alone, and what its links lead to is not',
  async () => {
    const folder = await newFolder();
    const [cluster, outside] = [join(folder, 'postgres'), join(folder, 'outside')];
    await mkdir(join(cluster, 'base'), { recursive: true });
    await chmod(cluster, 0o755);
    await mkdir(outside);
    await writeFile(join(outside, 'file'), '');
    await writeFile(join(cluster, 'base/1'), '');
    await symlink(outside, join(cluster, 'link'));
    await handOver(cluster, someone);
    const owners = ['.', 'base', 'base/1', 'link'].map(
      async (path) => (await lstat(join(cluster, path))).uid,
    );
    expect(new Set(await Promise.all(owners))).toEqual(new Set([someone.uid]));
    expect([(await stat(outside)).uid, (await stat(join(outside, 'file'))).uid]).toEqual([0, 0]);
    expect(await modeOf(cluster)).toBe(0o700);
  },
);

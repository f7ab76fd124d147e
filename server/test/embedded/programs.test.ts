import { chmod, chown, copyFile, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locateBinaries } from '../../src/platform/db/embedded/binaries.ts';
import { findUser } from '../../src/platform/db/embedded/system-user.ts';
import { hold, type Started } from './support/holder.ts';
import { exists, query } from './support/observe.ts';
import { ordinaryUser, type TestUser, users } from './support/users.ts';
import { installedPackage, makeWorkspace, type Workspace } from './support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace();
});
afterAll(() => workspace.remove());

const dataFolderOf = async (user: TestUser) => join(await workspace.folder(`of-${user.uid}`, user), 'data');

/** The user's folder with a database, which is made once: that takes longer than most of these tests. */
async function usedFolderOf(user: TestUser): Promise<string> {
  const dataDir = await dataFolderOf(user);
  if (!(await exists(dataDir))) await startAndStop(user, { dataDir });
  return dataDir;
}

describe.each(users)('as $title', (user) => {
  test('the first start adds the links and execute bits that npm --ignore-scripts left out', async () => {
    const packageDir = await unpackedPackage(`bare-${user.uid}`, user);
    const first = await startAndStop(user, { packageDir, dataDir: await dataFolderOf(user) });
    expect(first.notice).toBeNull();
    const links = await readLinks(packageDir);
    expect(links.length).toBeGreaterThan(0);
    for (const { target } of links) expect(await exists(join(packageDir, target))).toBe(true);
  });
});

test('a read-only package folder is copied into the data folder', async () => {
  const packageDir = await unpackedPackage('read-only', users[0] ?? ordinaryUser);
  for (const folder of ['native/lib', 'native/bin']) await chmod(join(packageDir, folder), 0o555);
  const dataDir = await usedFolderOf(ordinaryUser);
  const { notice } = await startAndStop(ordinaryUser, { packageDir, dataDir });
  const copies = (await readdir(dataDir)).filter((name) => name.startsWith('postgres-'));
  expect(copies).toHaveLength(1);
  expect(notice).toContain(join(dataDir, copies[0] ?? ''));
  expect(notice).toContain(packageDir);

  const before = await stat(join(dataDir, copies[0] ?? ''));
  await startAndStop(ordinaryUser, { packageDir, dataDir });
  expect((await stat(join(dataDir, copies[0] ?? ''))).ino).toBe(before.ino);
  for (const folder of ['native/lib', 'native/bin']) await chmod(join(packageDir, folder), 0o755);
});

describe.each(users.filter((user) => user.isRoot))('as $title', (root) => {
  test('programs and data in a closed folder go to a reachable one, the same at every start', async () => {
    const closed = join(workspace.root, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const packageDir = join(closed, 'package');
    await cp(installedPackage(), packageDir, { recursive: true, verbatimSymlinks: true });
    const options = { dataDir: join(closed, 'data'), packageDir };

    const holders = [hold(workspace, root, options)];
    const first = await started(holders[0]);
    expect(first.dataDir).toMatch(new RegExp(`^${workspace.reachableBase}/data-[0-9a-f]{16}/postgres$`));
    for (const path of [options.dataDir, first.dataDir, packageDir]) expect(first.notice).toContain(path);
    await query(first.connectionString, 'create table kept ()');
    await holders[0]?.stop();
    expect(await readdir(workspace.reachableBase)).toHaveLength(2);

    // The data stays there even after the folder is opened up.
    await chmod(closed, 0o755);
    const again = hold(workspace, root, options);
    const second = await started(again);
    expect(second.dataDir).toBe(first.dataDir);
    expect(
      await query(
        second.connectionString,
        "select count(*)::int as n from pg_tables where tablename = 'kept'",
      ),
    ).toEqual([{ n: 1 }]);
    await again.stop();
    expect(await readdir(workspace.reachableBase)).toHaveLength(2);
  });

  test('a cluster that became unreachable is reported, not replaced by an empty one', async () => {
    const dataDir = await usedFolderOf(root);
    await chmod(dirname(dataDir), 0o700);
    const { failed } = await hold(workspace, root, { dataDir }).answer();
    await chmod(dirname(dataDir), 0o755);
    expect(failed?.message).toMatch(/\(user 5\d{4}\) cannot enter .*of-0\/data/);
    expect(failed?.message).toContain('chmod o+x');
  });

  test("root runs an ordinary user's database as that user, who can start it again", async () => {
    const dataDir = await usedFolderOf(ordinaryUser);
    await startAndStop(root, { dataDir });
    await startAndStop(ordinaryUser, { dataDir });
  });

  test("an ordinary user cannot use root's data folder and gets the reason", async () => {
    const dataDir = await usedFolderOf(root);
    const { failed } = await hold(workspace, ordinaryUser, { dataDir }).answer();
    expect(failed?.message).toMatch(/data folder cannot be written to.*EACCES/);
  });
});

test('programs that do not run are reported with the reason and a remedy', async () => {
  const packageDir = join(workspace.root, 'broken');
  const files = {
    'bin/postgres': 'not a program',
    'share/postgresql/postgres.bki': '',
    'lib/libpq.so.5': '',
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(packageDir, 'native', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o755 });
  }
  await copyFile(join(installedPackage(), 'package.json'), join(packageDir, 'package.json'));
  const { failed } = await hold(workspace, users[0] ?? ordinaryUser, {
    packageDir,
    dataDir: await workspace.folder('broken-data', users[0] ?? ordinaryUser),
    reachableBase: join(workspace.root, 'broken-base'),
  }).answer();
  expect(failed?.message).toMatch(/do not run/);
  expect(failed?.message).toMatch(/not found|[Ee]xec format error/);
  expect(failed?.message).toContain('DATABASE_URL');
});

test('a platform without a package is refused with a remedy', async () => {
  const user = { ...ordinaryUser, name: 'nobody' };
  const real = Object.getOwnPropertyDescriptor(process, 'arch');
  Object.defineProperty(process, 'arch', { ...real, value: 's390x' });
  try {
    await expect(locateBinaries({ user, packageDir: undefined, copyBase: workspace.root })).rejects.toThrow(
      /s390x is not installed[\s\S]*DATABASE_URL to a PostgreSQL 14/,
    );
  } finally {
    if (real) Object.defineProperty(process, 'arch', real);
  }
});

test('the installed package is found by default', async () => {
  const user = { ...(users[0] ?? ordinaryUser), name: 'me' };
  const found = await locateBinaries({ user, packageDir: undefined, copyBase: workspace.root });
  expect(found).toMatchObject({ majorVersion: '18', notice: null });
});

test('users are found by their name, and root is none to run postgres as', async () => {
  const passwd = join(workspace.root, 'passwd');
  await writeFile(passwd, 'simplane:x:0:0::/:/bin/false\nnobody:*:-2:-2::/var/empty:/usr/bin/false\n');
  expect(await findUser('nobody', passwd)).toMatchObject({ uid: 2 ** 32 - 2, gid: 2 ** 32 - 2 });
  expect(await findUser('simplane', passwd)).toBeNull();
  await writeFile(passwd, 'not-simplane:x:997:997::/:/bin/false\nsimplane:x:998:997::/:/bin/false\n');
  expect(await findUser('simplane', passwd)).toEqual({
    uid: 998,
    gid: 997,
    name: 'simplane',
    isNamed: true,
  });
  expect(await findUser('nobody', passwd)).toBeNull();
});

/** The package without links and execute bits, as npm --ignore-scripts leaves it. */
async function unpackedPackage(name: string, owner: TestUser): Promise<string> {
  const packageDir = join(workspace.root, name);
  await cp(installedPackage(), packageDir, { recursive: true, verbatimSymlinks: true });
  for (const { target } of await readLinks(packageDir)) await rm(join(packageDir, target), { force: true });
  for (const program of ['initdb', 'postgres']) await chmod(join(packageDir, 'native/bin', program), 0o644);
  for (const folder of [
    'native/lib',
    'native/bin',
    'native/bin/initdb',
    'native/bin/postgres',
    'native/bin/pg_ctl',
  ]) {
    await chown(join(packageDir, folder), owner.uid, owner.gid);
  }
  return packageDir;
}

async function readLinks(packageDir: string): Promise<{ source: string; target: string }[]> {
  return JSON.parse(await readFile(join(packageDir, 'native/pg-symlinks.json'), 'utf8')) as [];
}

async function startAndStop(
  user: TestUser,
  options: { packageDir?: string; dataDir: string },
): Promise<Started> {
  const holder = hold(workspace, user, options);
  const answer = await holder.started();
  expect(await query(answer.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
  await holder.stop();
  return answer;
}

async function started(holder: ReturnType<typeof hold> | undefined): Promise<Started> {
  if (!holder) throw new Error('no holder');
  return holder.started();
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readProcess } from '../../src/platform/db/embedded/process-table.ts';
import { makeSocketFolder, removeSocketFolder } from '../../src/platform/db/embedded/socket-folder.ts';
import {
  connectToRunning,
  DataFolderInUse,
  settingArguments,
  startEmbeddedPostgres,
} from '../../src/platform/db/embedded/start.ts';
import { spawnOptionsFor } from '../../src/platform/db/embedded/system-user.ts';
import { hold, startClaimer } from './support/holder.ts';
import { eventually, exists, ownerFileOf, query } from './support/observe.ts';
import { ordinaryUser, type TestUser, users } from './support/users.ts';
import { makeWorkspace, type Workspace } from './support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace();
});
afterAll(() => workspace.remove());

/** One for all tests of a user, since creating a database takes longer than each of them. */
const folderOf = (user: TestUser) => workspace.folder(`used-${user.uid}`, user);

const staleOwner = {
  pid: 1,
  process_start: 'another',
  socket_dir: null,
  database: null,
  started_at: '',
  claim: '',
};

describe.each(users)('as $title', (user) => {
  test('exactly one of several simultaneous starts succeeds', async () => {
    const dataDir = await folderOf(user);
    await writeFile(ownerFileOf(dataDir), JSON.stringify(staleOwner));
    const holders = Array.from({ length: 4 }, () => hold(workspace, user, { dataDir }));
    const answers = await Promise.all(holders.map((holder) => holder.answer()));
    const winners = holders.filter((_, index) => answers[index]?.started);
    expect(winners).toHaveLength(1);
    for (const { failed } of answers.filter((answer) => answer.failed)) {
      expect(failed).toMatchObject({ name: 'DataFolderInUse', pid: winners[0]?.pid });
    }
    await winners[0]?.stop();
  });

  test('a folder in use is refused at once, naming the process that holds it', async () => {
    const dataDir = await folderOf(user);
    const owner = hold(workspace, user, { dataDir });
    const { connectionString } = await owner.started();
    const { failed } = await hold(workspace, user, { dataDir }).answer();
    expect(failed).toMatchObject({ name: 'DataFolderInUse', pid: owner.pid });
    expect(failed?.message).toContain(`process ${owner.pid} (`);
    expect(failed?.message).toContain('hold.mjs');
    expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    await owner.stop();
  });
});

describe('of several processes', () => {
  let claimers: ReturnType<typeof startClaimer>[];
  beforeAll(() => {
    claimers = Array.from({ length: 6 }, () => startClaimer(workspace, users[0] ?? ordinaryUser));
  });

  test.each([
    ['a dead process', { pid: 2 ** 22 + 1 }],
    ['a pid now used by another process', { pid: process.ppid }],
    ['an earlier process with our own pid', { pid: process.pid }],
  ])('exactly one takes over a claim left by %s', async (title, { pid }) => {
    for (const content of ['whole', 'cut off']) {
      const dataDir = await workspace.folder(`takeover ${title} ${content}`, ordinaryUser);
      await writeFile(ownerFileOf(dataDir), JSON.stringify({ ...staleOwner, pid }));
      // An earlier takeover was killed midway.
      await writeFile(`${ownerFileOf(dataDir)}.takeover`, JSON.stringify({ ...staleOwner, pid }));
      if (content === 'cut off') await writeFile(ownerFileOf(dataDir), '{"pid":');
      const answers = await Promise.all(claimers.map((claimer) => claimer.claim(dataDir)));
      expect(answers.filter((answer) => answer.claimed)).toEqual([{ claimed: dataDir }]);
      expect(answers.filter((answer) => answer.failed?.name === 'DataFolderInUse')).toHaveLength(5);
    }
  });
});

test('a second start in the same process is refused until the first is stopped', async () => {
  const dataDir = await folderOf(users[0] ?? ordinaryUser);
  const options = { dataDir, packageDir: workspace.packageDir };
  const outcomes = await Promise.allSettled([startEmbeddedPostgres(options), startEmbeddedPostgres(options)]);
  const won = outcomes.find((outcome) => outcome.status === 'fulfilled');
  const lost = outcomes.find((outcome) => outcome.status === 'rejected');
  expect(lost?.reason).toBeInstanceOf(DataFolderInUse);
  expect(lost?.reason).toMatchObject({ pid: process.pid });
  await won?.value.stop();
  await (await startEmbeddedPostgres(options)).stop();
});

test('commands ignore a stale claim', async () => {
  const dataDir = await workspace.folder('stale', ordinaryUser);
  const stale = {
    ...staleOwner,
    pid: process.pid,
    socket_dir: '/tmp/simplane-pg-gone',
    database: 'simplane',
  };
  await writeFile(ownerFileOf(dataDir), JSON.stringify(stale));
  expect(await connectToRunning(dataDir)).toBeNull();
  expect(await connectToRunning(`${dataDir}/not-there`)).toBeNull();
});

test("a start is refused while a postgres that is not ours holds the cluster's lock file", async () => {
  const dataDir = await folderOf(ordinaryUser);
  const packageDir = workspace.packageDir;
  const made = await startEmbeddedPostgres({ dataDir, packageDir });
  await made.stop();

  // Through a symlink, so it does not look like one of ours.
  const alias = `${workspace.root}/alias`;
  await symlink(made.dataDir, alias);
  const user = { ...ordinaryUser, name: 'nobody' };
  const socketDir = await makeSocketFolder(user);
  const byHand = spawn(`${packageDir}/native/bin/postgres`, ['-D', alias, ...settingArguments(socketDir)], {
    ...spawnOptionsFor(user),
    stdio: 'ignore',
  });
  const exited = once(byHand, 'exit');
  workspace.onCleanup(async () => {
    byHand.kill('SIGQUIT');
    await exited;
    await removeSocketFolder(socketDir);
  });
  await eventually('it listens', () => exists(`${socketDir}/.s.PGSQL.5432`));

  const refusal = await startEmbeddedPostgres({ dataDir, packageDir }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(DataFolderInUse);
  expect(refusal).toMatchObject({ pid: byHand.pid });
  expect(await readProcess(byHand.pid ?? 0)).not.toBeNull();
  expect(await exists(ownerFileOf(dataDir))).toBe(false);
});

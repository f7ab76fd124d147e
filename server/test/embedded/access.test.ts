import { spawn } from 'node:child_process';
import { appendFile, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { poll } from '../../src/platform/db/embedded/poll.ts';
import { runCommand } from '../../src/platform/db/embedded/run-command.ts';
import { hold } from './support/holder.ts';
import { eventually, exists, query } from './support/observe.ts';
import { requestedAuthentication } from './support/requested-authentication.ts';
import { ordinaryUser, type TestUser, users } from './support/users.ts';
import { makeWorkspace, type Workspace } from './support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace();
});
afterAll(() => workspace.remove());

const folderOf = (user: TestUser) => workspace.folder(`locked-${user.uid}`, ordinaryUser);

/** With a database that the user has made, once: that takes longer than each of these tests. */
async function usedFolderOf(user: TestUser): Promise<string> {
  const dataDir = await folderOf(user);
  if (!(await exists(clusterOf(dataDir)))) {
    const first = hold(workspace, user, { dataDir });
    await first.started();
    await first.stop();
  }
  return dataDir;
}
const clusterOf = (dataDir: string) => join(dataDir, 'postgres');
const passwordFileOf = (dataDir: string) => join(dataDir, 'database-password');

function withPassword(connectionString: string, password: string): string {
  const url = new URL(connectionString);
  url.password = password;
  return url.href;
}

describe.each(users)('started by $title in an ordinary user’s folder', (user) => {
  test('a client on the socket needs the password, which only the data folder holds', async () => {
    const dataDir = await folderOf(user);
    const holder = hold(workspace, user, { dataDir });
    const { connectionString, dataDir: cluster } = await holder.started();
    expect(await requestedAuthentication(workspace.node, connectionString, await stat(cluster))).toBe('R10');
    await expect(query(withPassword(connectionString, 'a guess'), 'select 1')).rejects.toMatchObject({
      code: '28P01',
    });

    const { mode, uid } = await stat(passwordFileOf(dataDir));
    expect(mode & 0o777).toBe(0o600);
    expect(uid).toBe(ordinaryUser.uid);
    const password = (await readFile(passwordFileOf(dataDir), 'utf8')).trim();
    const { stdout: processes } = await runCommand(null, 'ps', ['-A', '-ww', '-o', 'command=']);
    expect(processes).toContain(cluster);
    expect(processes).not.toContain(password);
    await holder.stop();
  });

  test('a folder from an earlier release without a password gets one at the next start and keeps its data', async () => {
    const dataDir = await usedFolderOf(user);
    const first = hold(workspace, user, { dataDir });
    const { connectionString: before, dataDir: cluster } = await first.started();
    await query(before, 'create table kept ()');
    await query(before, 'alter role postgres password null');
    await first.kill(); // so there is WAL to replay too
    await writeFile(join(cluster, 'pg_hba.conf'), 'local all all trust\n');
    await rm(passwordFileOf(dataDir));

    const second = hold(workspace, user, { dataDir });
    const { connectionString } = await second.started();
    expect(await requestedAuthentication(workspace.node, connectionString, await stat(cluster))).toBe('R10');
    expect(await query(connectionString, 'select * from kept')).toEqual([]);
    await second.stop();
  });

  test('a password file that does not match the database is refused with a remedy', async () => {
    const dataDir = await usedFolderOf(user);
    await writeFile(passwordFileOf(dataDir), 'x'.repeat(43));
    const { failed } = await hold(workspace, user, { dataDir }).answer();
    expect(failed?.message).toContain(`Remove ${passwordFileOf(dataDir)}`);
    expect(failed?.message).not.toContain('x'.repeat(43));

    await rm(passwordFileOf(dataDir));
    const again = hold(workspace, user, { dataDir });
    await again.started();
    await again.stop();
  });
});

test('if the password cannot be set, the error has what PostgreSQL said, without the password', async () => {
  const dataDir = await usedFolderOf(ordinaryUser);
  await rm(passwordFileOf(dataDir));
  const settings = join(clusterOf(dataDir), 'postgresql.auto.conf');
  const before = await readFile(settings);
  await appendFile(settings, 'default_transaction_read_only = on\n');

  const { failed } = await hold(workspace, ordinaryUser, { dataDir }).answer();
  const password = (await readFile(passwordFileOf(dataDir), 'utf8')).trim();
  expect(failed?.message).toMatch(/cannot execute ALTER ROLE[\s\S]* password '…'/);
  expect(failed?.message).not.toContain(password);
  await writeFile(settings, before);
});

describe.each(users.filter((user) => user.isRoot))('as $title', (root) => {
  test("the password file in an ordinary user's folder belongs to that user, even if root started first", async () => {
    const dataDir = await usedFolderOf(root);
    await rm(passwordFileOf(dataDir));
    for (const user of [root, ordinaryUser]) {
      const holder = hold(workspace, user, { dataDir });
      const { connectionString } = await holder.started();
      expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
      await holder.stop();
    }
  });
});

test('a start waits for the postgres left behind by a start killed while it set the password', async () => {
  const user = users[0] ?? ordinaryUser;
  const dataDir = await usedFolderOf(user);
  const cluster = clusterOf(dataDir);
  await rm(passwordFileOf(dataDir));

  const { uid, gid } = await stat(cluster);
  const postgres = join(workspace.packageDir, 'native/bin/postgres');
  const leftover = spawn(postgres, ['--single', '-D', cluster, 'postgres'], {
    ...(uid === process.getuid?.() ? {} : { uid, gid }),
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  workspace.onCleanup(async () => void leftover.kill('SIGKILL'));
  await eventually('the leftover postgres holds the cluster', () => exists(join(cluster, 'postmaster.pid')));

  const second = hold(workspace, user, { dataDir });
  await eventually('the second start is about to set the password', () => exists(passwordFileOf(dataDir)));
  // Its attempts are short, so a busy machine may miss them all; the start waits longer than this poll.
  const isAttempting = async () => {
    const { stdout } = await runCommand(null, 'ps', ['-A', '-ww', '-o', 'command=']);
    return stdout.split('\n').filter((line) => line.includes(`--single -D ${cluster}`)).length === 2;
  };
  await poll(isAttempting, { timeoutMs: 4_000 });
  leftover.stdin.end();
  const { connectionString } = await second.started();
  expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
  await second.stop();
});

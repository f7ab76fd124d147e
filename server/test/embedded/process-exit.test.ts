import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile, stat, writeFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../src/platform/db/embedded/start.ts';
import { hold } from './support/holder.ts';
import { eventually, exists, isGone, query, serverOf, socketDirOf, watchersOf } from './support/observe.ts';
import { users } from './support/users.ts';
import { makeWorkspace, type Workspace } from './support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace();
});
afterAll(() => workspace.remove());

describe.each(users)('as $title', (user) => {
  /** One for all tests of a user, since creating a database takes longer than each of them. */
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await workspace.folder(`exits-${user.uid}`, user);
  });

  test('killing node also ends postgres and removes its socket', async () => {
    const holder = hold(workspace, user, { dataDir });
    const { connectionString, dataDir: cluster } = await holder.started();
    const server = await serverOf(cluster);
    if (!server) throw new Error('postgres does not run');
    await holder.kill();
    await eventually('postgres is gone', () => isGone(server));
    await eventually('the socket folder is gone', async () => !(await exists(socketDirOf(connectionString))));
    await eventually('its watcher shells are gone', async () => (await watchersOf(cluster)).length === 0);
  });

  test('a start right after a kill waits for the old postgres and finds all committed data', async () => {
    let connectionString = '';
    for (let round = 0; round < 2; round++) {
      const holder = hold(workspace, user, { dataDir });
      ({ connectionString } = await holder.started());
      await query(connectionString, `create table round_${round} ()`);
      await holder.kill();
    }
    const last = hold(workspace, user, { dataDir });
    ({ connectionString } = await last.started());
    const [row] = await query(
      connectionString,
      "select count(*)::int as n from pg_tables where tablename like 'round_%'",
    );
    expect(row).toEqual({ n: 2 });
    await last.stop();
  });

  test('an orphaned postgres without watcher shells is stopped, never reused', async () => {
    const first = hold(workspace, user, { dataDir });
    const { connectionString, dataDir: cluster } = await first.started();
    const orphan = await serverOf(cluster);
    if (!orphan) throw new Error('postgres does not run');
    // Freeze node: otherwise it would notice the dead shells and stop postgres itself.
    process.kill(first.pid, 'SIGSTOP');
    for (const pid of await watchersOf(cluster)) process.kill(pid, 'SIGKILL');
    await first.kill();
    expect(await isGone(orphan)).toBe(false);
    expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);

    const second = hold(workspace, user, { dataDir });
    const again = await second.started();
    expect(await isGone(orphan)).toBe(true);
    expect(again.connectionString).not.toBe(connectionString);
    expect(await exists(socketDirOf(connectionString))).toBe(false);
    await second.stop();
  });

  test('Ctrl-C reaches node, and the database stays up until node is done', async () => {
    const holder = hold(workspace, user, { dataDir });
    const { connectionString, dataDir: cluster } = await holder.started();
    process.kill(-holder.pid, 'SIGINT');
    expect(await holder.answer()).toEqual({ interrupted: true });
    expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    await holder.stop();
    expect(await serverOf(cluster)).toBeNull();
  });

  test('signals to the watcher shells do not stop the database', async () => {
    const holder = hold(workspace, user, { dataDir });
    const { connectionString, dataDir: cluster } = await holder.started();
    for (const pid of await watchersOf(cluster)) {
      for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.kill(pid, signal);
    }
    expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await watchersOf(cluster)).length).toBe(2);
    await holder.stop();
  });

  test('a stale pid reused by another program does not block the start, and that program is left alone', async () => {
    const first = hold(workspace, user, { dataDir });
    const { dataDir: cluster } = await first.started();
    const lockFile = `${cluster}/postmaster.pid`;
    const lock = await readFile(lockFile, 'utf8');
    await first.stop();

    // Same user as postgres: postgres can signal the pid, so it would take it for a live server.
    const { uid, gid } = await stat(cluster);
    const bystander = spawn('/bin/sleep', ['600'], {
      ...(uid === process.getuid?.() ? {} : { uid, gid }),
      cwd: '/',
    });
    workspace.onCleanup(async () => void bystander.kill('SIGKILL'));
    await once(bystander, 'spawn');
    await writeFile(lockFile, lock.replace(/^\d+/, String(bystander.pid)), { mode: 0o600 });
    await chown(lockFile, uid, gid);

    const second = hold(workspace, user, { dataDir });
    const { connectionString } = await second.started();
    expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(bystander.exitCode).toBeNull();
    expect(bystander.signalCode).toBeNull();
    await second.stop();
  });
});

/** The same folder as above for the tests below, for the same reason. */
const inThisProcess = () => ({
  dataDir: `${workspace.root}/exits-${process.getuid?.()}`,
  packageDir: workspace.packageDir,
});

test('a postgres that dies is reported with its last output, and the folder is free again', async () => {
  const first = await startEmbeddedPostgres(inThisProcess());
  const server = await serverOf(first.dataDir);
  process.kill(server?.pid ?? 0, 'SIGINT');
  expect(await first.exited).toMatch(/postgres ended with code 0.*received fast shutdown request/s);
  await first.stop();

  const second = await startEmbeddedPostgres(inThisProcess());
  await second.stop();
  await second.stop();
});

test('losing the watcher shells stops postgres and is reported', async () => {
  const embedded = await startEmbeddedPostgres(inThisProcess());
  const server = await serverOf(embedded.dataDir);
  if (!server) throw new Error('postgres does not run');
  for (const pid of await watchersOf(embedded.dataDir)) process.kill(pid, 'SIGKILL');
  expect(await embedded.exited).toMatch(/postgres was ended by SIGKILL/);
  expect(await isGone(server)).toBe(true);
});

test('a stop does not wait for clients that stay connected', async () => {
  const embedded = await startEmbeddedPostgres(inThisProcess());
  const busy = query(embedded.connectionString, 'select pg_sleep(600)').catch(
    (error: Error) => error.message,
  );
  await eventually('the query runs', async () => {
    const rows = await query(
      embedded.connectionString,
      "select 1 from pg_stat_activity where query like '%sleep(600)'",
    );
    return rows.length > 0;
  });
  await embedded.stop();
  expect(await busy).toMatch(/terminating connection|Connection terminated/);
});

test('a stop takes bounded time even if a session is stuck, and committed data survives', async () => {
  const options = { ...inThisProcess(), fastShutdownMs: 300 };
  const embedded = await startEmbeddedPostgres(options);
  const client = new pg.Client({ connectionString: embedded.connectionString });
  client.on('error', () => {});
  await client.connect();
  await client.query('create table kept ()');
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  process.kill(rows[0]?.pid ?? 0, 'SIGSTOP');
  await embedded.stop();
  expect(await serverOf(embedded.dataDir)).toBeNull();

  const again = await startEmbeddedPostgres(options);
  await query(again.connectionString, 'select * from kept');
  await again.stop();
});

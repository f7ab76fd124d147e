import { readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectToRunning } from '../../src/platform/db/embedded/start.ts';
import { hold } from './support/holder.ts';
import { exists, ownerFileOf, query, readOwner, serverOf, socketDirOf } from './support/observe.ts';
import { users } from './support/users.ts';
import { makeWorkspace, type Workspace } from './support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace();
});
afterAll(() => workspace.remove());

describe.each(users)('as $title', (user) => {
  /** One for most tests of a user, since creating a database takes longer than each of them. */
  let dataDir: string;
  beforeAll(async () => {
    dataDir = `${await workspace.folder(`plain-${user.uid}`, user)}/data`;
  });

  test('data survives a stop and a start, and a stop leaves nothing behind', async () => {
    const first = hold(workspace, user, { dataDir });
    const { connectionString, dataDir: cluster, notice } = await first.started();
    expect(cluster).toBe(`${dataDir}/postgres`);
    expect(notice).toBeNull();
    await query(connectionString, "create table kept as select 'ÅÉ' as word");
    await first.stop();
    expect(await exists(socketDirOf(connectionString))).toBe(false);
    expect(await exists(ownerFileOf(dataDir))).toBe(false);
    expect(await serverOf(cluster)).toBeNull();

    const second = hold(workspace, user, { dataDir });
    const again = await second.started();
    expect(await query(again.connectionString, 'select lower(word) as word from kept')).toEqual([
      { word: 'åé' },
    ]);
    await second.stop();
  });

  test('the database listens only on a private socket, runs as an ordinary user and keeps commits durable', async () => {
    const holder = hold(workspace, user, { dataDir, settings: { work_mem: '3MB', max_connections: '20' } });
    const { connectionString, dataDir: cluster } = await holder.started();

    const socketDir = await stat(socketDirOf(connectionString));
    expect(socketDir.mode & 0o777).toBe(0o700);
    expect(socketDir.uid).not.toBe(0);
    expect((await stat(cluster)).mode & 0o777).toBe(0o700);
    // Line 6 of the lock file is the TCP address: empty.
    const lockFile = (await readFile(`${cluster}/postmaster.pid`, 'utf8')).split('\n');
    expect(lockFile[5]).toBe('');

    const names = [
      'fsync',
      'synchronous_commit',
      'work_mem',
      'max_connections',
      'listen_addresses',
      'server_encoding',
      'dynamic_shared_memory_type',
    ];
    const columns = names.map((name) => `current_setting('${name}') as ${name}`).join(', ');
    expect(await query(connectionString, `select current_database() as db, ${columns}`)).toEqual([
      {
        db: 'simplane',
        fsync: 'on',
        synchronous_commit: 'on',
        work_mem: '3MB',
        max_connections: '20',
        listen_addresses: '',
        server_encoding: 'UTF8',
        dynamic_shared_memory_type: 'mmap',
      },
    ]);
    await holder.stop();
  });

  test('a command finds the running database through the data folder', async () => {
    expect(await connectToRunning(dataDir)).toBeNull();
    const holder = hold(workspace, user, { dataDir, database: 'other "name"' });
    await holder.started();
    expect(await readOwner(dataDir)).toMatchObject({ pid: holder.pid });

    const found = await connectToRunning(dataDir);
    expect(found?.pid).toBe(holder.pid);
    const [row] = await query(found?.connectionString ?? '', 'select current_database() as db');
    expect(row).toEqual({ db: 'other "name"' });
    await holder.stop();
    expect(await connectToRunning(dataDir)).toBeNull();
  });

  test('a long path with spaces and quotes works', async () => {
    const parent = await workspace.folder(`long-${user.uid}`, user);
    const longDir = `${parent}/${'a folder with a name '.repeat(8)}/it's "here" $HOME \\`;
    expect(longDir.length).toBeGreaterThan(150);
    for (const round of ['first', 'second']) {
      const holder = hold(workspace, user, { dataDir: longDir });
      const { connectionString, dataDir: cluster } = await holder.started();
      expect(await query(connectionString, 'select 1 as one'), round).toEqual([{ one: 1 }]);
      expect(await serverOf(cluster)).not.toBeNull();
      await holder.stop();
    }
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findUser } from '../../src/platform/db/embedded/system-user.ts';
import { hold } from './support/holder.ts';
import { query } from './support/observe.ts';
import { requestedAuthentication } from './support/requested-authentication.ts';
import { ordinaryUser, users } from './support/users.ts';
import { makeWorkspace, type Workspace } from './support/workspace.ts';

let workspace: Workspace;
let hasOwnUser: boolean;
beforeAll(async () => {
  workspace = await makeWorkspace();
  hasOwnUser = (await findUser('simplane')) !== null;
});
afterAll(() => workspace.remove());

/**
 * Looks for initdb and postgres on a data folder, without a pause, until its input ends. Prints how often it saw one, and what it
 * could do. It does not signal initdb, which has its own user.
 */
const attack = `
const fs = require('node:fs');
const folder = process.argv[1];
const done = new Set();
let sightings = 0;
const attempt = (what, act) => {
  try {
    act();
    done.add(what);
  } catch {}
};
function attackAll() {
  for (const pid of fs.readdirSync('/proc').filter((name) => Number(name) > 0)) {
    let args = [];
    attempt('look', () => (args = fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0')));
    const cluster = args[args.indexOf('-D') + 1] ?? '';
    if (!cluster.startsWith(folder + '/')) continue;
    sightings += 1;
    attempt('list the files', () => fs.readdirSync(cluster));
    attempt('read the rules', () => fs.readFileSync(cluster + '/pg_hba.conf'));
    attempt('write the rules', () => fs.closeSync(fs.openSync(cluster + '/pg_hba.conf', 'r+')));
    attempt('look into the process', () => fs.readlinkSync('/proc/' + pid + '/fd/2'));
    attempt('enter by the process', () => fs.readdirSync('/proc/' + pid + '/cwd/'));
    if (!args[0].endsWith('/postgres') || args[1] !== '-D') continue;
    attempt('signal', () => process.kill(Number(pid), 'SIGHUP'));
    const sockets = args.find((arg) => arg.startsWith('unix_socket_directories=')).split('=')[1];
    const socket = require('node:net').connect(sockets + '/.s.PGSQL.5432', () => {
      done.add('connect');
      socket.destroy();
    });
    socket.on('error', () => {});
  }
  if (isOver) console.log(JSON.stringify({ sightings, done: [...done].filter((what) => what !== 'look').sort() }));
  else setImmediate(attackAll);
}
let isOver = false;
process.stdin.on('end', () => (isOver = true)).resume();
console.log('attacking');
attackAll();
`;

type Attacker = { process: ChildProcess; end(): Promise<{ sightings: number; done: string[] }> };

/** A process of `nobody` that attacks whatever runs on the folder. */
async function startAttacker(dataDir: string): Promise<Attacker> {
  const { uid, gid } = ordinaryUser;
  const child = spawn(workspace.node, ['-e', attack, dataDir], {
    uid,
    gid,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  workspace.onCleanup(async () => void child.kill('SIGKILL'));
  const output = text(child.stdout);
  await once(child, 'spawn');
  return {
    process: child,
    async end() {
      child.stdin.end();
      return JSON.parse((await output).split('\n')[1] ?? '');
    },
  };
}

/** The owners of all files in a cluster. */
async function ownersIn(cluster: string): Promise<number[]> {
  const entries = await readdir(cluster, { recursive: true, withFileTypes: true });
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
  const owners = await Promise.all([cluster, ...paths].map((path) => lstat(path)));
  return [...new Set(owners.map(({ uid }) => uid))];
}

async function giveAll(cluster: string, uid: number): Promise<void> {
  for (const path of await readdir(cluster, { recursive: true })) await chown(join(cluster, path), uid, uid);
  await chown(cluster, uid, uid);
}

describe.each(users.filter((user) => user.isRoot))('started by $title', (root) => {
  test('a process of nobody cannot read, rewrite, signal or reach it, from its first start on', async () => {
    const dataDir = join(workspace.root, 'another');
    const attacker = await startAttacker(dataDir);
    const first = hold(workspace, root, { dataDir });
    const { connectionString } = await first.started();
    expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    const early = await attacker.end();
    // One that only comes now has surely seen the running server.
    const late = await startAttacker(dataDir);
    const reports = [early, await late.end()];
    await first.stop();
    expect(reports.map(({ done }) => done)).toEqual([[], []]);
    expect(reports[1]?.sightings).toBeGreaterThan(0);
  });

  test('without a user `simplane`, postgres has a uid that no user and no other postgres has, the same at every start', async (context) => {
    context.skip(hasOwnUser, 'the system has a user simplane');
    const seen: number[] = [];
    for (const dataDir of ['one', 'another', 'one'].map((name) => join(workspace.root, name))) {
      const holder = hold(workspace, root, { dataDir });
      const { connectionString, dataDir: cluster } = await holder.started();
      expect(await query(connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
      seen.push(...(await ownersIn(cluster)));
      await holder.stop();
    }
    const [one, another, oneAgain] = seen;
    expect(seen).toHaveLength(3);
    expect(one).toBe(oneAgain);
    expect(one).not.toBe(another);
    for (const uid of seen) expect(uid >= 50_000 && uid < 60_000).toBe(true);
    expect(await readFile('/etc/passwd', 'utf8')).not.toMatch(new RegExp(`:(${one}|${another}):`));
  });

  test('it admits root, and refuses its own user', async () => {
    const dataDir = join(workspace.root, 'one');
    const holder = hold(workspace, root, { dataDir });
    const { connectionString, dataDir: cluster } = await holder.started();
    expect(await query(connectionString, 'select current_user as name')).toEqual([{ name: 'postgres' }]);
    const { uid, gid } = await stat(cluster);
    expect(await requestedAuthentication(workspace.node, connectionString, { uid, gid })).toBe('E');
    await holder.stop();
  });

  test('a postgres of nobody is open to these attacks, so the attacker is able to make them', async () => {
    const dataDir = await workspace.folder('of-others', ordinaryUser);
    const holder = hold(workspace, root, { dataDir });
    await holder.started();
    const attacker = await startAttacker(dataDir);
    const { done } = await attacker.end();
    await holder.stop();
    expect(done).toEqual([
      'connect',
      'enter by the process',
      'list the files',
      'look into the process',
      'read the rules',
      'signal',
      'write the rules',
    ]);
  });

  test.each(['nobody', 'root'])(
    'a cluster that belongs to %s gets a user of its own and keeps its data',
    async (name) => {
      const formerUid = name === 'root' ? 0 : ordinaryUser.uid;
      // That of the test before, and then the same again: making a database takes longer than these tests.
      const dataDir = join(workspace.root, 'of-others');
      const first = hold(workspace, root, { dataDir });
      const { connectionString: before, dataDir: cluster } = await first.started();
      await query(before, `create table kept_of_${name} ()`);
      await first.stop();
      // As earlier releases left it, with rules that let everyone in, and links to what is not the cluster's.
      await chown(dataDir, 0, 0);
      const outside = join(workspace.root, `outside-${name}`);
      await mkdir(outside);
      await writeFile(join(outside, 'file'), '');
      await writeFile(join(cluster, 'pg_hba.conf'), 'local all all trust\n');
      await giveAll(cluster, formerUid);
      await symlink(outside, join(cluster, `link-of-${name}`));

      const second = hold(workspace, root, { dataDir });
      const { connectionString } = await second.started();
      expect(await query(connectionString, `select * from kept_of_${name}`)).toEqual([]);
      const owners = await ownersIn(cluster);
      expect(owners).toHaveLength(1);
      expect([0, ordinaryUser.uid]).not.toContain(owners[0]);
      expect((await stat(join(outside, 'file'))).uid).toBe(0);
      const attacker = await startAttacker(dataDir);
      expect((await attacker.end()).done).toEqual([]);
      await second.stop();
    },
  );
});

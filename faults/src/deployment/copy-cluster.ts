import type { Dirent } from 'node:fs';
import { chown, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pg from 'pg';

type Copy = {
  /** The running primary's own address, as a superuser. */
  primaryUrl: string;
  /** The primary's cluster. */
  source: string;
  /** Where the standby's cluster goes; must not exist. */
  target: string;
  /** Lines for the standby's postgresql.auto.conf. */
  settings: Record<string, string>;
};

/** Makes a standby out of a running primary; the npm package has no pg_basebackup. */
export async function copyCluster({ primaryUrl, source, target, settings }: Copy): Promise<void> {
  const client = new pg.Client({ connectionString: primaryUrl });
  client.on('error', () => {}); // the query in hand fails as well, and that is what the caller sees
  await client.connect();
  try {
    // The backup belongs to the session, so one connection has to last from start to stop.
    await client.query(`select pg_backup_start('standby', true)`);
    const { uid, gid } = await lstat(source);
    const owner = { uid, gid };
    await copyFolder(source, target, owner);
    const { rows } = await client.query<{ labelfile: string }>(
      // Without waiting for an archive: the standby streams the log it needs.
      'select labelfile from pg_backup_stop(false)',
    );
    await write(join(target, 'backup_label'), rows[0]?.labelfile ?? '', owner);
    const lines = Object.entries(settings).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
    );
    await write(join(target, 'postgresql.auto.conf'), lines.join(''), owner);
    await write(join(target, 'standby.signal'), '', owner);
  } finally {
    await client.end().catch(() => {});
  }
}

type Owner = { uid: number; gid: number };

// The log itself is streamed; the rest is what pg_basebackup leaves out as well.
const emptied = new Set([
  'pg_wal',
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const isLeftOut = (name: string) =>
  /^(postmaster\.(pid|opts)|postgresql\.auto\.conf(\.tmp)?|standby\.signal|backup_label.*|pg_internal\.init.*|pgsql_tmp.*)$/.test(
    name,
  );

/** Files come and go while it reads: the log holds what became of them. */
async function copyFolder(source: string, target: string, owner: Owner): Promise<void> {
  await mkdir(target, { mode: 0o700 });
  await give(target, owner);
  if (emptied.has(basename(source))) return;
  const entries = await readdir(source, { withFileTypes: true });
  await Promise.all(entries.map((entry) => copyEntry(entry, join(target, entry.name), owner)));
}

async function copyEntry(entry: Dirent, target: string, owner: Owner): Promise<void> {
  if (isLeftOut(entry.name)) return;
  const source = join(entry.parentPath, entry.name);
  try {
    if (entry.isDirectory()) await copyFolder(source, target, owner);
    // Not copyFile: a file that shrinks meanwhile would keep it waiting for the rest.
    else if (entry.isFile()) await write(target, await readFile(source), owner);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function write(path: string, content: string | Buffer, owner: Owner): Promise<void> {
  await writeFile(path, content, { mode: 0o600 });
  await give(path, owner);
}

/** Root copies for the user that PostgreSQL runs as. */
async function give(path: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() === 0) await chown(path, uid, gid);
}

import type { Dirent } from 'node:fs';
import { chown, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pg from 'pg';

type Copy = {
  /** Direct superuser connection to the running primary. */
  primaryUrl: string;
  /** Data directory of the primary. */
  source: string;
  /** Data directory of the standby; must not exist. */
  target: string;
  /** Lines for the standby's postgresql.auto.conf. */
  settings: Record<string, string>;
};

/** Builds a standby from a running primary; the npm package has no pg_basebackup. */
export async function copyCluster({ primaryUrl, source, target, settings }: Copy): Promise<void> {
  const client = new pg.Client({ connectionString: primaryUrl });
  client.on('error', () => {}); // the running query fails too, and the caller gets that error
  await client.connect();
  try {
    // A backup belongs to its session, so start and stop use one connection.
    await client.query(`select pg_backup_start('standby', true)`);
    const { uid, gid } = await lstat(source);
    const owner = { uid, gid };
    await copyFolder(source, target, owner);
    const { rows } = await client.query<{ labelfile: string }>(
      // Does not wait for WAL archiving: the standby streams the WAL it needs.
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

// The WAL is streamed; pg_basebackup skips the others too.
const copiedEmpty = new Set([
  'pg_wal',
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const isExcluded = (name: string) =>
  /^(postmaster\.(pid|opts)|postgresql\.auto\.conf(\.tmp)?|standby\.signal|backup_label.*|pg_internal\.init.*|pgsql_tmp.*)$/.test(
    name,
  );

/** Files may change during the copy: replaying the WAL corrects them. */
async function copyFolder(source: string, target: string, owner: Owner): Promise<void> {
  await mkdir(target, { mode: 0o700 });
  await setOwner(target, owner);
  if (copiedEmpty.has(basename(source))) return;
  const entries = await readdir(source, { withFileTypes: true });
  await Promise.all(entries.map((entry) => copyEntry(entry, join(target, entry.name), owner)));
}

async function copyEntry(entry: Dirent, target: string, owner: Owner): Promise<void> {
  if (isExcluded(entry.name)) return;
  const source = join(entry.parentPath, entry.name);
  try {
    if (entry.isDirectory()) await copyFolder(source, target, owner);
    // Not copyFile: it would wait for the rest of a file that shrinks meanwhile.
    else if (entry.isFile()) await write(target, await readFile(source), owner);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function write(path: string, content: string | Buffer, owner: Owner): Promise<void> {
  await writeFile(path, content, { mode: 0o600 });
  await setOwner(path, owner);
}

/** As root, gives the file to the user that PostgreSQL runs as. */
async function setOwner(path: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() === 0) await chown(path, uid, gid);
}

import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { EmbeddedPostgresFailed } from './failure.ts';
import { canEnter } from './reach.ts';
import type { SystemUser } from './system-user.ts';

export const superuser = 'postgres';

/** How to get in. No password: a server that an earlier release has started. */
export type Access = { socketDir: string; password: string | null };

const prefix = 'simplane-pg-';
// sun_path holds 104 bytes on macOS, 108 on Linux, the closing zero included.
const longestParent = 103 - `/${prefix}XXXXXX/.s.PGSQL.5432`.length;

/** Only the user that PostgreSQL runs as, and root, can enter it; whoever connects needs the password as well. */
export async function makeSocketFolder(user: SystemUser): Promise<string> {
  for (const parent of new Set([tmpdir(), '/tmp', '/var/tmp'])) {
    // unix_socket_directories is a list with quoting rules of its own: plain characters only.
    if (Buffer.byteLength(parent) > longestParent || !/^[\w/.+-]+$/.test(parent)) continue;
    const folder = await mkdtemp(join(parent, prefix)).catch(() => null);
    if (folder === null) continue;
    await chmod(folder, 0o700);
    if (user.uid !== process.getuid?.()) await chown(folder, user.uid, user.gid);
    if (await canEnter(user, folder)) return folder;
    await removeSocketFolder(folder);
  }
  throw new EmbeddedPostgresFailed(`Found no temporary folder that ${user.name} can put a socket in.`, {
    remedy: 'Make /tmp writable.',
  });
}

/** The path may come from a file of an earlier run, so only what is plainly ours is removed. */
export async function removeSocketFolder(folder: string): Promise<void> {
  if (!basename(folder).startsWith(prefix)) return;
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

/** Port and sslmode are spelt out because PGPORT and PGSSLMODE of the caller would win otherwise. */
export function connectionStringFor({ socketDir, password }: Access, database: string): string {
  const query = `host=${encodeURIComponent(socketDir)}&sslmode=disable`;
  const credentials = password === null ? superuser : `${superuser}:${encodeURIComponent(password)}`;
  return `postgresql://${credentials}@localhost:5432/${encodeURIComponent(database)}?${query}`;
}

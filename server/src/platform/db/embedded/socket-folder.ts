import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { EmbeddedPostgresFailed } from './failure.ts';
import { canEnter } from './reach.ts';
import type { SystemUser } from './system-user.ts';

export const superuser = 'postgres';

/** How to connect. The password is null if the server admits only root. */
export type Access = { socketDir: string; password: string | null };

const prefix = 'simplane-pg-';
// sun_path holds 104 bytes on macOS and 108 on Linux, including the trailing zero.
const maxParentLength = 103 - `/${prefix}XXXXXX/.s.PGSQL.5432`.length;

/** Only root and the user that PostgreSQL runs as can enter the folder. */
export async function makeSocketFolder(user: SystemUser): Promise<string> {
  for (const parent of new Set([tmpdir(), '/tmp', '/var/tmp'])) {
    // unix_socket_directories has its own quoting rules, so only plain characters are allowed.
    if (Buffer.byteLength(parent) > maxParentLength || !/^[\w/.+-]+$/.test(parent)) continue;
    const folder = await mkdtemp(join(parent, prefix)).catch(() => null);
    if (folder === null) continue;
    await chmod(folder, 0o700);
    if (user.uid !== process.getuid?.()) await chown(folder, user.uid, user.gid);
    if (await canEnter(user, folder)) return folder;
    await removeSocketFolder(folder);
  }
  throw new EmbeddedPostgresFailed(`Found no temporary folder in which ${user.name} can create a socket.`, {
    remedy: 'Make /tmp writable.',
  });
}

/** The path may come from a file of an earlier run, so only a folder with our prefix is removed. */
export async function removeSocketFolder(folder: string): Promise<void> {
  if (!basename(folder).startsWith(prefix)) return;
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

/** Port and sslmode are explicit, because otherwise the caller's PGPORT and PGSSLMODE would apply. */
export function connectionStringFor({ socketDir, password }: Access, database: string): string {
  const query = `host=${encodeURIComponent(socketDir)}&sslmode=disable`;
  const credentials = password === null ? superuser : `${superuser}:${encodeURIComponent(password)}`;
  return `postgresql://${credentials}@localhost:5432/${encodeURIComponent(database)}?${query}`;
}

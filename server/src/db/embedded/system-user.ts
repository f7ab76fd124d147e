import { readFile } from 'node:fs/promises';
import { EmbeddedPostgresFailed } from './failure.ts';

export type SystemUser = { uid: number; gid: number; name: string };

export function currentUser(): SystemUser {
  const uid = process.getuid?.() ?? -1;
  return { uid, gid: process.getgid?.() ?? -1, name: uid === 0 ? 'root' : `user ${uid}` };
}

/**
 * PostgreSQL refuses to run as root, and initdb refuses a uid that is not in passwd. A dedicated user is better than `nobody`,
 * whose other processes could read the files. Not `postgres`, because a system server may run as that user.
 */
export async function unprivilegedUser(passwdFile = '/etc/passwd'): Promise<SystemUser> {
  const passwd = await readFile(passwdFile, 'utf8').catch(() => '');
  for (const name of ['simplane', 'nobody']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(-?\\d+):(-?\\d+):`, 'm').exec(passwd) ?? [];
    if (uid === undefined || gid === undefined || Number(uid) === 0) continue;
    return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0, name };
  }
  throw new EmbeddedPostgresFailed(
    `PostgreSQL does not run as root, and ${passwdFile} has no user "simplane" or "nobody" to run it as.`,
    { remedy: 'Start as an ordinary user.' },
  );
}

/**
 * A minimal environment excludes the caller's PGDATA, PGPORT and so on. The working folder is `/`, because the user may
 * not be able to enter ours.
 */
export function spawnOptionsFor(user: SystemUser | null): {
  uid?: number;
  gid?: number;
  cwd: string;
  env: Record<string, string>;
} {
  const base = { cwd: '/', env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' } };
  if (user === null || user.uid === process.getuid?.()) return base;
  // `nobody` is -2 on macOS: spawn needs it signed, chown unsigned.
  return { ...base, uid: user.uid | 0, gid: user.gid | 0 };
}

import { readFile } from 'node:fs/promises';

export type SystemUser = {
  uid: number;
  gid: number;
  name: string;
  /** Whether the system has a name for the uid. Without one, initdb and single-user mode do not run. */
  isNamed: boolean;
};

export function currentUser(): SystemUser {
  const uid = process.getuid?.() ?? -1;
  return { uid, gid: process.getgid?.() ?? -1, name: uid === 0 ? 'root' : `user ${uid}`, isNamed: true };
}

/** Null if there is no such user, or if it is root. */
export async function findUser(
  name: 'simplane' | 'nobody',
  passwdFile = '/etc/passwd',
): Promise<SystemUser | null> {
  const passwd = await readFile(passwdFile, 'utf8').catch(() => '');
  const [, uid, gid] = new RegExp(`^${name}:[^:]*:(-?\\d+):(-?\\d+):`, 'm').exec(passwd) ?? [];
  if (uid === undefined || gid === undefined || Number(uid) === 0) return null;
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0, name, isNamed: true };
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

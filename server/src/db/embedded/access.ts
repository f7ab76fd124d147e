import { randomBytes, randomUUID } from 'node:crypto';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresFailed, errorCode } from './failure.ts';
import { isLockedOut, lockedOutBoundMs, stopOrphan } from './orphan.ts';
import { poll } from './poll.ts';
import { runCommand } from './run-command.ts';
import { superuser } from './socket-folder.ts';
import type { SystemUser } from './system-user.ts';

type Cluster = { folder: string; cluster: string; binaries: Binaries; user: SystemUser };

/**
 * Leaves a cluster that lets nobody in without the password in the data folder, and returns that. PostgreSQL may run as
 * `nobody`, which is every careless service's user: to be that user must not be enough.
 */
export async function requirePassword({ folder, cluster, binaries, user }: Cluster): Promise<string> {
  const rules = join(cluster, 'pg_hba.conf');
  const known = await readPassword(folder);
  if (known !== null && (await readFile(rules, 'utf8').catch(() => '')) === accessRules) return known;

  // In this order a start that is cut short anywhere is made good by the next one.
  const password = known ?? (await createPassword(folder));
  await stopOrphan(cluster);
  await setPassword(password, { cluster, binaries, user });
  await replaceFile(rules, accessRules, user);
  return password;
}

/** Null when there is none, as before the first start and in folders of earlier releases. */
export async function readPassword(folder: string): Promise<string | null> {
  try {
    const text = (await readFile(passwordFile(folder), 'utf8')).trim();
    return text.length >= shortestPassword ? text : null; // cut short by a power failure
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw new EmbeddedPostgresFailed(`The database's password cannot be read: ${String(error)}.`, {
      cause: error,
      remedy: 'Start as the user who made the data folder.',
    });
  }
}

export const passwordFile = (folder: string) => join(folder, 'database-password');

const shortestPassword = 43;

const accessRules = `# Written by Simplane; changes are undone at the next start.
local  all          all  scram-sha-256
local  replication  all  scram-sha-256
`;

/** Root makes it for the folder's owner, who may start the database without root the next time. */
async function createPassword(folder: string): Promise<string> {
  const password = randomBytes(32).toString('base64url');
  const { uid, gid } = await stat(folder);
  await replaceFile(passwordFile(folder), `${password}\n`, { uid, gid });
  return password;
}

/**
 * In single-user mode, which needs no password and opens no socket; what it reads from its input shows in no process list.
 * Takes about 0.1 s, once a cluster.
 */
async function setPassword(password: string, { cluster, binaries, user }: Omit<Cluster, 'folder'>) {
  const attempt = () =>
    runCommand(user, binaries.postgres, ['--single', '-D', cluster, 'postgres'], {
      input: `alter role ${superuser} password '${password}'\n`,
      timeoutMs: 300_000, // replaying the log after a crash can take minutes
    });
  // A start that was killed here has left a process that ends by itself, as soon as it has read what it was sent.
  const unlocked = async () => {
    const tried = await attempt();
    return isLockedOut(tried.stderr) ? null : tried;
  };
  const result = (await poll(unlocked, { timeoutMs: lockedOutBoundMs, everyMs: 100 })) ?? (await attempt());
  // Single-user mode goes on after an error, and ends with 0.
  if (result.ok && !/^.*\bERROR:/m.test(result.stderr)) return;
  throw new EmbeddedPostgresFailed(
    `postgres ${result.ending} while the database's password was set in ${cluster}.`,
    { stderr: result.stderr.replaceAll(password, '…') },
  );
}

async function replaceFile(path: string, text: string, owner: { uid: number; gid: number }): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    if (process.getuid?.() === 0) await chown(draft, owner.uid, owner.gid);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw new EmbeddedPostgresFailed(`Could not write ${path}: ${String(error)}.`, { cause: error });
  }
}

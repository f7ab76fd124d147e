import { randomBytes, randomUUID } from 'node:crypto';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresFailed, errorCode } from './failure.ts';
import { isLockedOut, lockedOutBoundMs, stopOrphan } from './orphan.ts';
import { poll } from './poll.ts';
import { runCommand } from './run-command.ts';
import { superuser } from './socket-folder.ts';
import type { SystemUser } from './system-user.ts';

type Cluster = { folder: string; cluster: string; binaries: Binaries; user: SystemUser };

/** Lets in only who may start the cluster. Returns the password that clients need, or null if they need none. */
export async function restrictAccess(cluster: Cluster): Promise<string | null> {
  if (cluster.user.isNamed) return requirePassword(cluster);
  await admitOnlyRoot(cluster);
  return null;
}

/** PostgreSQL asks the kernel who connects. A password could be set in single-user mode only, which needs a named user. */
async function admitOnlyRoot({ cluster, user }: Cluster): Promise<void> {
  const files = {
    'pg_hba.conf': `${writtenByUs}local  all  ${superuser}  peer map=simplane\n`,
    'pg_ident.conf': `${writtenByUs}simplane  "${userInfo().username}"  ${superuser}\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(cluster, name);
    if ((await readFile(path, 'utf8').catch(() => '')) !== text) await replaceFile(path, text, user);
  }
}

/** Other processes of the user may connect to the socket, so being that user must not give access. */
async function requirePassword({ folder, cluster, binaries, user }: Cluster): Promise<string> {
  const rules = join(cluster, 'pg_hba.conf');
  const known = await readPassword(folder);
  if (known !== null && (await readFile(rules, 'utf8').catch(() => '')) === accessRules) return known;

  // In this order, a start interrupted at any step is completed by the next one.
  const password = known ?? (await createPassword(folder));
  await stopOrphan(cluster);
  await setPassword(password, { cluster, binaries, user });
  await replaceFile(rules, accessRules, user);
  return password;
}

/** Null if there is none, as before the first start and in folders from earlier releases. */
export async function readPassword(folder: string): Promise<string | null> {
  try {
    const text = (await readFile(passwordFile(folder), 'utf8')).trim();
    return text.length >= passwordLength ? text : null; // shorter if a power failure truncated it
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw new EmbeddedPostgresFailed(`The database's password cannot be read: ${String(error)}.`, {
      cause: error,
      remedy: 'Start as the user who owns the data folder.',
    });
  }
}

export const passwordFile = (folder: string) => join(folder, 'database-password');

const passwordLength = 43;

const writtenByUs = '# Written by Simplane; changes are undone at the next start.\n';

const accessRules = `${writtenByUs}\
local  all          all  scram-sha-256
local  replication  all  scram-sha-256
`;

/** Owned by the folder's owner even if root creates it, so that the owner can start the database later without root. */
async function createPassword(folder: string): Promise<string> {
  const password = randomBytes(32).toString('base64url');
  const { uid, gid } = await stat(folder);
  await replaceFile(passwordFile(folder), `${password}\n`, { uid, gid });
  return password;
}

/**
 * Uses single-user mode, which needs no password and opens no socket. Standard input keeps the password out of the process
 * list. Takes about 0.1 s, once per cluster.
 */
async function setPassword(password: string, { cluster, binaries, user }: Omit<Cluster, 'folder'>) {
  const attempt = () =>
    runCommand(user, binaries.postgres, ['--single', '-D', cluster, 'postgres'], {
      input: `alter role ${superuser} password '${password}'\n`,
      timeoutMs: 300_000, // replaying the log after a crash can take minutes
    });
  // An earlier start killed at this point leaves a process that exits once it has read its input.
  const unlocked = async () => {
    const tried = await attempt();
    return isLockedOut(tried.stderr) ? null : tried;
  };
  const result = (await poll(unlocked, { timeoutMs: lockedOutBoundMs, everyMs: 100 })) ?? (await attempt());
  // Single-user mode continues after an error and exits with 0.
  if (result.ok && !/^.*\bERROR:/m.test(result.stderr)) return;
  throw new EmbeddedPostgresFailed(
    `postgres ${result.ending} while setting the database's password in ${cluster}.`,
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

import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { handOver } from './cluster-location.ts';
import { EmbeddedPostgresFailed, errorCode } from './failure.ts';
import { runCommand } from './run-command.ts';
import { superuser } from './socket-folder.ts';
import { findUser, type SystemUser } from './system-user.ts';

/** Ensures a cluster of the right version. Never overwrites existing files. */
export async function initialiseCluster(
  cluster: string,
  binaries: Binaries,
  user: SystemUser,
): Promise<void> {
  await removeUnfinished(cluster);
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version === null) return createCluster(cluster, binaries, user);
  if (version.trim() !== binaries.majorVersion) {
    throw new EmbeddedPostgresFailed(
      `The database in ${cluster} was made by PostgreSQL ${version.trim()}; this release runs PostgreSQL ` +
        `${binaries.majorVersion}, which cannot read it.`,
      {
        remedy: `Migrate the data with PostgreSQL ${version.trim()}'s pg_dump, or choose another data folder.`,
      },
    );
  }
}

/** Built in a temporary folder and renamed, so that an interrupted initdb leaves nothing that looks like a cluster. */
async function createCluster(cluster: string, binaries: Binaries, user: SystemUser): Promise<void> {
  if ((await readdir(cluster).catch(() => [])).length > 0) {
    throw new EmbeddedPostgresFailed(`${cluster} holds files but no PostgreSQL database.`, {
      remedy: 'Move that folder away, or choose another data folder.',
    });
  }
  const shelter = `${cluster}${unfinished}${randomUUID()}`;
  const draft = join(shelter, 'postgres');
  try {
    const creator = user.isNamed ? user : await stranger(user);
    await makeFolder(shelter, 0o710, { uid: process.getuid?.() ?? -1, gid: user.gid });
    await makeFolder(draft, 0o700, creator);
    await runInitdb(draft, binaries, creator);
    if (creator !== user) await handOver(draft, user);
    await rename(draft, cluster);
    await syncFolder(dirname(cluster));
    await rm(shelter, { recursive: true, force: true });
  } catch (error) {
    await rm(shelter, { recursive: true, force: true }).catch(() => {});
    if (error instanceof EmbeddedPostgresFailed) throw error;
    throw new EmbeddedPostgresFailed(`Could not create a database in ${cluster}: ${String(error)}.`, {
      cause: error,
    });
  }
}

/**
 * initdb needs a uid with a name. With the cluster's own gid, other processes of `nobody` can neither enter the folder around it
 * nor look into the process.
 */
async function stranger({ gid }: SystemUser): Promise<SystemUser> {
  const nobody = await findUser('nobody');
  if (nobody) return { ...nobody, gid };
  throw new EmbeddedPostgresFailed(
    'PostgreSQL does not run as root, and the system has no user "simplane" or "nobody" to create a database as.',
    { remedy: 'Start as an ordinary user.' },
  );
}

async function makeFolder(path: string, mode: number, owner: { uid: number; gid: number }): Promise<void> {
  await mkdir(path, { mode });
  await chmod(path, mode);
  if (process.getuid?.() === 0) await chown(path, owner.uid, owner.gid);
}

async function runInitdb(folder: string, binaries: Binaries, user: SystemUser): Promise<void> {
  // Without -N: syncing takes 60 of 750 ms, and a power failure soon after the first start then loses nothing.
  // The builtin C.UTF-8 sorts by bytes on every machine and still handles the case of é.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  // All logins are rejected until access.ts has set a password.
  const access = ['-U', superuser, '--auth-local=reject', '--auth-host=reject'];
  const memory = ['--set', 'dynamic_shared_memory_type=mmap'];
  const args = ['-D', folder, ...locale, ...access, ...memory, '--no-instructions'];
  const result = await runCommand(user, binaries.initdb, args, { timeoutMs: 300_000 });
  if (!result.ok) {
    throw new EmbeddedPostgresFailed(`initdb ${result.ending} while creating a database in ${folder}.`, {
      stderr: result.stderr,
      remedy: 'Check that about 100 MB of disk space are free and that the folder is writable.',
    });
  }
}

const unfinished = '.unfinished-';

async function removeUnfinished(cluster: string): Promise<void> {
  const parent = dirname(cluster);
  for (const name of await readdir(parent)) {
    if (name.startsWith(basename(cluster) + unfinished)) {
      // An orphaned initdb may still be writing there; the next start removes it.
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems cannot sync a folder.
    if (errorCode(error) !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}

import { createHash } from 'node:crypto';
import { chmod, lchown, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresFailed } from './failure.ts';
import { canEnter, makeReachable } from './reach.ts';
import { currentUser, type SystemUser, unprivilegedUser } from './system-user.ts';

type ClusterLocation = { cluster: string; user: SystemUser; notice: string | null };

export async function prepareDataFolder(dataDir: string): Promise<string> {
  const folder = resolve(dataDir);
  try {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (made !== undefined) await chmod(folder, 0o700);
    // If we are root, the database's user must be able to traverse the folder to its own subfolder, but not list it.
    const { uid, mode } = await stat(folder);
    if (currentUser().uid === 0 && uid === 0) await chmod(folder, (mode & 0o777) | 0o011);
    return await realpath(folder);
  } catch (error) {
    throw new EmbeddedPostgresFailed(`The data folder ${folder} cannot be used: ${String(error)}.`, {
      cause: error,
      remedy: 'Choose a data folder that this user can write to.',
    });
  }
}

/** Decides where the cluster is and which user runs it. An existing cluster is always used where it is. */
export async function locateCluster(folder: string, reachableBase: string): Promise<ClusterLocation> {
  const inside = join(folder, 'postgres');
  const me = currentUser();
  if (me.uid !== 0) {
    await refuseForeign(inside, me);
    return { cluster: inside, user: me, notice: null };
  }

  const chosen = await unprivilegedUser();
  const elsewhere = join(reachableBase, `data-${shortHash(folder)}`, 'postgres');
  for (const cluster of [inside, elsewhere]) {
    const user = await userOfExisting(cluster, chosen);
    if (user === null) continue;
    if (!(await canEnter(user, dirname(cluster)))) throw unreachable(user, dirname(cluster));
    return { cluster, user, notice: cluster === elsewhere ? movedNotice(folder, elsewhere) : null };
  }
  if (await canEnter(chosen, folder)) return { cluster: inside, user: chosen, notice: null };

  await makeReachable(reachableBase);
  await makeReachable(dirname(elsewhere));
  if (!(await canEnter(chosen, dirname(elsewhere)))) throw unreachable(chosen, dirname(elsewhere));
  return { cluster: elsewhere, user: chosen, notice: movedNotice(folder, elsewhere) };
}

/** Root runs another user's cluster as that user, so that the user can still start it later. */
async function userOfExisting(cluster: string, chosen: SystemUser): Promise<SystemUser | null> {
  const found = await stat(cluster).catch(() => null);
  if (found === null) return null;
  if (found.uid === chosen.uid) return chosen;
  if (found.uid !== 0) return { uid: found.uid, gid: found.gid, name: `user ${found.uid}` };
  await changeOwner(cluster, chosen);
  return chosen;
}

/** A restored or copied cluster may belong to root, and PostgreSQL does not run as root. */
async function changeOwner(cluster: string, user: SystemUser): Promise<void> {
  for (const entry of await readdir(cluster, { recursive: true })) {
    await lchown(join(cluster, entry), user.uid, user.gid);
  }
  await lchown(cluster, user.uid, user.gid);
  await chmod(cluster, 0o700);
}

async function refuseForeign(cluster: string, me: SystemUser): Promise<void> {
  const found = await stat(cluster).catch(() => null);
  if (found === null || found.uid === me.uid) return;
  throw new EmbeddedPostgresFailed(
    `The database in ${cluster} belongs to user ${found.uid}, but this process runs as ${me.name}.`,
    {
      remedy:
        'Start as the user who created it (root, if it belongs to "nobody" or "simplane"), or choose another data folder.',
    },
  );
}

function unreachable(user: SystemUser, folder: string): EmbeddedPostgresFailed {
  return new EmbeddedPostgresFailed(
    `PostgreSQL does not run as root, and the user it runs as (${user.name}) cannot enter ${folder}.`,
    {
      remedy: `Give that user access (chmod o+x on ${folder} and its parent folders), or choose another data folder.`,
    },
  );
}

function movedNotice(folder: string, cluster: string): string {
  return (
    `The database is in ${cluster}, not in ${folder}: PostgreSQL does not run as root, ` +
    `and the user it runs as could not enter ${folder} when the database was created.`
  );
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

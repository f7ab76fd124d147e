import { createHash, randomInt } from 'node:crypto';
import { chmod, lchown, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresFailed } from './failure.ts';
import { stopOrphan } from './orphan.ts';
import { uidsInUse } from './process-table.ts';
import { canEnter, makeReachable } from './reach.ts';
import { runCommand } from './run-command.ts';
import { currentUser, findUser, type SystemUser } from './system-user.ts';

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

  const owner = await stat(folder);
  const elsewhere = join(reachableBase, `data-${shortHash(folder)}`, 'postgres');
  for (const cluster of [inside, elsewhere]) {
    const user = await userOfExisting(cluster, owner);
    if (user === null) continue;
    if (!(await canEnter(user, dirname(cluster)))) throw unreachable(user, dirname(cluster));
    return { cluster, user, notice: cluster === elsewhere ? movedNotice(folder, elsewhere) : null };
  }
  const chosen = await chooseUser(owner);
  if (await canEnter(chosen, folder)) return { cluster: inside, user: chosen, notice: null };

  await makeReachable(reachableBase);
  await makeReachable(dirname(elsewhere));
  if (!(await canEnter(chosen, dirname(elsewhere)))) throw unreachable(chosen, dirname(elsewhere));
  return { cluster: elsewhere, user: chosen, notice: movedNotice(folder, elsewhere) };
}

/**
 * Root runs another user's cluster as that user, so that the user can still start it later. A cluster of `nobody` (earlier
 * releases ran it so) or root (restored from a backup) gets a user, unless somebody else's folder has it, where paths may change.
 */
async function userOfExisting(cluster: string, folderOwner: { uid: number; gid: number }) {
  const found = await stat(cluster).catch(() => null);
  if (found === null) return null;
  const nobody = await findUser('nobody');
  if ((found.uid !== 0 && found.uid !== nobody?.uid) || folderOwner.uid !== 0) return userOf(found);
  const user = await chooseUser(folderOwner);
  await stopOrphan(cluster);
  await handOver(await realpath(cluster), user);
  return user;
}

/** Gives the cluster to the user. Root has it meanwhile, so that the next start completes an interrupted one. */
export async function handOver(cluster: string, user: SystemUser): Promise<void> {
  await lchown(cluster, 0, 0);
  await chmod(cluster, 0o700);
  await handOverContents(cluster, user);
  await lchown(cluster, user.uid, user.gid);
}

/** From the top: when a folder is listed, its former owner can no longer put links to other files in it. */
async function handOverContents(folder: string, user: SystemUser): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    await lchown(path, user.uid, user.gid);
    if (entry.isDirectory()) await handOverContents(path, user);
  }
}

async function refuseForeign(cluster: string, me: SystemUser): Promise<void> {
  const found = await stat(cluster).catch(() => null);
  if (found === null || found.uid === me.uid) return;
  throw new EmbeddedPostgresFailed(
    `The database in ${cluster} belongs to user ${found.uid}, but this process runs as ${me.name}.`,
    {
      remedy: 'Start as the user who created it (root, if root created it), or choose another data folder.',
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

type Owner = { uid: number; gid: number };

/**
 * The user for a new cluster when root starts it: PostgreSQL refuses to run as root. Not `postgres`, because a system server may
 * run as that user, and not `nobody`: its other processes could rewrite the files and signal the server.
 */
async function chooseUser(folderOwner: Owner): Promise<SystemUser> {
  if (folderOwner.uid !== 0) return userOf(folderOwner);
  return (await findUser('simplane')) ?? unusedUser();
}

async function userOf({ uid, gid }: Owner): Promise<SystemUser> {
  return { uid, gid, name: `user ${uid}`, isNamed: await hasName(uid) };
}

// Containers map at least 65,536 uids, and systems give out the first ones from 1,000 on.
const [firstUid, lastUid] = [50_000, 59_999];

/** A uid that no user and no process has. The cluster's files remember it. */
async function unusedUser(): Promise<SystemUser> {
  const inUse = await uidsInUse();
  for (let attempt = 0; attempt < 100; attempt++) {
    const uid = randomInt(firstUid, lastUid + 1);
    const user = inUse.has(uid) ? null : await userOf({ uid, gid: uid });
    if (user && !user.isNamed) return user;
  }
  throw new EmbeddedPostgresFailed(
    `Found no unused uid from ${firstUid} to ${lastUid} to run PostgreSQL as.`,
    {
      remedy: 'Create a user for it (useradd --system simplane), or start as an ordinary user.',
    },
  );
}

/** By a command, which also knows users that are not in /etc/passwd. */
async function hasName(uid: number): Promise<boolean> {
  const { ok } = await runCommand(null, 'id', ['-nu', String(uid)]);
  return ok;
}

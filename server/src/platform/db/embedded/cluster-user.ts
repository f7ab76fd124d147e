import { randomInt } from 'node:crypto';
import { EmbeddedPostgresFailed } from './failure.ts';
import { uidsInUse } from './process-table.ts';
import { runCommand } from './run-command.ts';
import { findUser, type SystemUser } from './system-user.ts';

type Owner = { uid: number; gid: number };

/**
 * The user for a new cluster when root starts it: PostgreSQL refuses to run as root. Not `postgres`, because a system server may
 * run as that user, and not `nobody`: its other processes could rewrite the files and signal the server.
 */
export async function chooseUser(folderOwner: Owner): Promise<SystemUser> {
  if (folderOwner.uid !== 0) return userOf(folderOwner);
  return (await findUser('simplane')) ?? unusedUser();
}

export async function userOf({ uid, gid }: Owner): Promise<SystemUser> {
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

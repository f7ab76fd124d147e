import { randomUUID } from 'node:crypto';
import { link, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readPassword } from './access.ts';
import { DataFolderInUse, EmbeddedPostgresFailed, errorCode } from './failure.ts';
import { type ProcessEntry, readProcess } from './process-table.ts';
import { connectionStringFor } from './socket-folder.ts';

type Owner = {
  pid: number;
  process_start: string;
  /** Null until the database answers. */
  socket_dir: string | null;
  database: string | null;
  started_at: string;
  claim: string;
};

type Claim = {
  /** The previous owner's socket folder, if it exited without cleaning up. */
  abandonedSocketDir: string | null;
  publish(running: { socketDir: string; database: string }): Promise<void>;
  release(): Promise<void>;
};

/** Makes this process the only owner of the folder, or throws DataFolderInUse. */
export async function claimFolder(folder: string): Promise<Claim> {
  const path = ownerFile(folder);
  const self = await readProcess(process.pid);
  const owner: Owner = {
    pid: process.pid,
    process_start: self?.started ?? '',
    socket_dir: null,
    database: null,
    started_at: new Date().toISOString(),
    claim: randomUUID(),
  };
  const previous = await take(path, owner, folder);
  return {
    abandonedSocketDir: previous?.socket_dir ?? null,
    publish: ({ socketDir, database }) => replace(path, { ...owner, socket_dir: socketDir, database }),
    async release() {
      const current = parse(await readText(path));
      if (current?.claim === owner.claim) await rm(path, { force: true });
    },
  };
}

/** For commands run beside a service. Null if no process owns the folder or its database is not ready. */
export async function connectToRunning(
  dataDir: string,
): Promise<{ connectionString: string; pid: number } | null> {
  const folder = await realpath(dataDir).catch(() => null);
  if (folder === null) return null;
  const owner = parse(await readText(ownerFile(folder)));
  if (!owner?.socket_dir || !owner.database || !(await processOf(owner))) return null;
  const access = { socketDir: owner.socket_dir, password: await readPassword(folder) };
  return { connectionString: connectionStringFor(access, owner.database), pid: owner.pid };
}

const ownerFile = (folder: string) => join(folder, 'owner.json');

/**
 * Creation is exclusive. Only the holder of `<path>.takeover`, acquired by the same rules, may replace a stale file,
 * and only after reading it again; otherwise a slow process would replace the winner's file.
 */
async function take(path: string, owner: Owner, folder: string): Promise<Owner | null> {
  const deadline = performance.now() + 5_000;
  while (performance.now() < deadline) {
    if (await create(path, owner)) return null;
    const seen = await readText(path);
    if (seen === null) continue;
    const holder = await processOf(parse(seen));
    if (holder) throw new DataFolderInUse(folder, holder.pid, holder.command);

    const takeover = `${path}.takeover`;
    try {
      await take(takeover, owner, folder);
    } catch (error) {
      if (!(error instanceof DataFolderInUse)) throw error;
      await delay(5);
      continue;
    }
    try {
      if ((await readText(path)) !== seen) continue;
      await replace(path, owner);
      return parse(seen);
    } finally {
      await rm(takeover, { force: true });
    }
  }
  throw new EmbeddedPostgresFailed(`Could not take ${path}: other processes keep changing it.`);
}

async function processOf(owner: Owner | null): Promise<ProcessEntry | null> {
  if (owner === null) return null;
  const entry = await readProcess(owner.pid);
  return entry?.started === owner.process_start ? entry : null;
}

/** A hard link appears with its full content; a half-written file would look stale. */
async function create(path: string, owner: Owner): Promise<boolean> {
  const draft = await writeDraft(path, owner);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw new EmbeddedPostgresFailed(`Could not create ${path}.`, { cause: error, stderr: String(error) });
  } finally {
    await rm(draft, { force: true });
  }
}

async function replace(path: string, owner: Owner): Promise<void> {
  await rename(await writeDraft(path, owner), path);
}

async function writeDraft(path: string, owner: Owner): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${JSON.stringify(owner, null, 2)}\n`, { mode: 0o600 });
    return draft;
  } catch (error) {
    throw new EmbeddedPostgresFailed(`The data folder cannot be written to: ${String(error)}.`, {
      cause: error,
      remedy: 'Use a data folder that this user can write to, or free disk space.',
    });
  }
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** An unreadable file, such as one truncated by a power failure, counts as stale. */
function parse(text: string | null): Owner | null {
  try {
    const owner = JSON.parse(text ?? 'null') as Owner | null;
    return typeof owner?.pid === 'number' ? owner : null;
  } catch {
    return null;
  }
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresFailed } from './failure.ts';
import { poll } from './poll.ts';
import { type ProcessEntry, readProcess } from './process-table.ts';

/**
 * Stops a postgres that an earlier owner left running on this cluster. Only the folder's owner may call this.
 * Returns the pid in postmaster.pid if another program now has it; postgres must be told to ignore it.
 */
export async function stopOrphan(cluster: string, steps = shutdownSteps): Promise<number | null> {
  const pid = await pidInLockFile(cluster);
  if (pid === null) return null;
  const found = await readProcess(pid);
  if (found === null) return exists(pid) ? pid : null;
  if (!isPostgresOf(cluster, found)) return pid;

  for (const [signal, timeoutMs] of steps) {
    if (await isGone(found)) return null;
    send(pid, signal);
    if (await poll(() => isGone(found), { timeoutMs })) return null;
  }
  throw new EmbeddedPostgresFailed(`An earlier postgres (process ${pid}) still runs on ${cluster}.`, {
    remedy: `It could not be stopped; kill process ${pid} and start again.`,
  });
}

// Fast shutdown, then immediate, then SIGKILL, which costs only a crash recovery at the next start.
const shutdownSteps: [signal: NodeJS.Signals, timeoutMs: number][] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 7_000],
  ['SIGKILL', 3_000],
];

/** How long to wait for another server to release the cluster. */
export const lockedOutBoundMs = 10_000;

/** Whether postgres exited because another one holds the cluster. */
export function isLockedOut(stderr: string): boolean {
  return /lock file "postmaster.pid" already exists|pre-existing shared memory block/.test(stderr);
}

/** True only for a server that supervise.ts started on this folder; pids are reused. */
export function isPostgresOf(cluster: string, entry: ProcessEntry): boolean {
  return entry.command.includes(`/postgres -D ${cluster} -c `);
}

export async function pidInLockFile(cluster: string): Promise<number | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Math.abs(Number.parseInt(text, 10));
  return pid > 0 ? pid : null;
}

async function isGone(entry: ProcessEntry): Promise<boolean> {
  return (await readProcess(entry.pid))?.started !== entry.started;
}

/** readProcess ignores zombies, but the kernel, and therefore postgres, still finds their pid. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already exited.
  }
}

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { isPostgresOf, pidInLockFile } from '../../../src/platform/db/embedded/orphan.ts';
import { poll } from '../../../src/platform/db/embedded/poll.ts';
import { type ProcessEntry, readProcess } from '../../../src/platform/db/embedded/process-table.ts';
import { runCommand } from '../../../src/platform/db/embedded/run-command.ts';

export async function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

export function socketDirOf(connectionString: string): string {
  return new URL(connectionString).searchParams.get('host') ?? '';
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

/** The running postmaster of a cluster, or null. */
export async function serverOf(cluster: string): Promise<ProcessEntry | null> {
  const pid = await pidInLockFile(cluster);
  const entry = pid === null ? null : await readProcess(pid);
  return entry && isPostgresOf(cluster, entry) ? entry : null;
}

/** The shells that watch a cluster's postgres. */
export async function watchersOf(cluster: string): Promise<number[]> {
  const { stdout } = await runCommand(null, 'ps', ['-A', '-ww', '-o', 'pid=', '-o', 'command=']);
  return stdout
    .split('\n')
    .filter((line) => line.includes(' simplane-postgres ') && line.includes(` ${cluster} `))
    .map((line) => Number.parseInt(line, 10));
}

export async function eventually(
  what: string,
  condition: () => Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> {
  if (!(await poll(condition, { timeoutMs }))) throw new Error(`not within ${timeoutMs} ms: ${what}`);
}

export async function isGone(entry: ProcessEntry): Promise<boolean> {
  return (await readProcess(entry.pid))?.started !== entry.started;
}

export function ownerFileOf(dataDir: string): string {
  return join(dataDir, 'owner.json');
}

export async function readOwner(dataDir: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(ownerFileOf(dataDir), 'utf8')) as Record<string, unknown>;
}

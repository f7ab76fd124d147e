import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Sends SIGKILL to a process and its children at the same moment, like a power loss. The parent is stopped first, so it
 * can neither start another child nor notice that one died.
 */
export async function killProcessTree(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  for (const child of await childrenOf(pid)) signal(child, 'SIGKILL');
  process.kill(pid, 'SIGKILL');
}

async function childrenOf(pid: number): Promise<number[]> {
  const table = process.platform === 'linux' ? await readProc() : await readPs();
  return table.filter(({ parent }) => parent === pid).map((entry) => entry.pid);
}

type Entry = { pid: number; parent: number };

/** Does not use `ps`, which small container images lack. */
async function readProc(): Promise<Entry[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null); // it has exited
      // The process name in parentheses may contain `)` and spaces; the state and the parent follow the last `)`.
      const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
      return { pid: Number(pid), parent: Number(parent ?? -1) };
    }),
  );
  return entries;
}

async function readPs(): Promise<Entry[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = -1, parent = -1]) => ({ pid, parent }));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has already exited.
  }
}

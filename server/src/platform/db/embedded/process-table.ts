import { readdir, readFile, stat } from 'node:fs/promises';
import { runCommand } from './run-command.ts';

/** `started` distinguishes a process from a later one with the same pid. */
export type ProcessEntry = { pid: number; started: string; command: string };

/** Null if the process does not exist or is a zombie. */
export function readProcess(pid: number): Promise<ProcessEntry | null> {
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid);
}

export async function readFromProc(pid: number): Promise<ProcessEntry | null> {
  try {
    const [stat, commandLine, bootId] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    ]);
    // The name in parentheses may contain spaces and parentheses, so count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X' || startTicks === undefined) return null;
    // Ticks count from boot, so without the boot id they could repeat after a reboot.
    return {
      pid,
      started: `${bootId.trim()}/${startTicks}`,
      command: commandLine.split('\0').join(' ').trim(),
    };
  } catch {
    return null;
  }
}

export async function readFromPs(pid: number): Promise<ProcessEntry | null> {
  const columns = ['-o', 'stat=', '-o', 'lstart=', '-o', 'command='];
  const { stdout } = await runCommand(null, 'ps', ['-ww', ...columns, '-p', String(pid)]);
  const line = /^\s*(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*?)\s*$/s.exec(stdout);
  const [, state, started, command] = line ?? [];
  if (!state || state.startsWith('Z') || !started || command === undefined) return null;
  return { pid, started: started.replace(/\s+/g, ' '), command };
}

export async function uidsInUse(): Promise<Set<number>> {
  if (process.platform !== 'linux') {
    const { stdout } = await runCommand(null, 'ps', ['-A', '-o', 'uid=']);
    return new Set(stdout.split('\n').map(Number));
  }
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const owners = await Promise.all(pids.map((pid) => stat(`/proc/${pid}`).catch(() => null)));
  return new Set(owners.map((owner) => owner?.uid ?? 0));
}

import { readFile } from 'node:fs/promises';

/** The current resident memory of a process. */
export async function readMemoryMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  if (kilobytes === undefined) throw new Error(`process ${pid} has no VmRSS`);
  return Number(kilobytes) / 1024;
}

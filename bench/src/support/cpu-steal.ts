import { readFileSync } from 'node:fs';

/** CPU time that the hypervisor gave to others, in milliseconds over all cores; 0 where it is not told. */
export function readStealMs(): number {
  try {
    const [total = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    return Number(total.trim().split(/\s+/)[8] ?? 0) * 10; // in ticks of 10 ms
  } catch {
    return 0;
  }
}

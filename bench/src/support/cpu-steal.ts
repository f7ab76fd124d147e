import { readFileSync } from 'node:fs';

/** CPU steal time over all cores, in milliseconds; 0 where it is not available. */
export function readStealMs(): number {
  try {
    const [total = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    return Number(total.trim().split(/\s+/)[8] ?? 0) * 10; // in ticks of 10 ms
  } catch {
    return 0;
  }
}

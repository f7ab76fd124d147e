import { randomFillSync } from 'node:crypto';

const poolBytes = 4_096;

/**
 * Random bytes that are drawn many at a time: a call for each few cost more than what was made of them. What it gives is
 * read at once; the next call may fill the pool anew.
 */
export function createRandomPool(): (count: number) => Buffer {
  const pool = Buffer.allocUnsafe(poolBytes);
  let used = poolBytes;
  return (count) => {
    if (used + count > poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
}

import { randomFillSync } from 'node:crypto';

const poolBytes = 4_096;

/**
 * Generates random bytes in large blocks, because a system call per id cost more than the rest of the id. Read the returned
 * bytes at once; a later call may overwrite them.
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

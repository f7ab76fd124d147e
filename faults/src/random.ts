export type Random = {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  below(bound: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** Weighted choice: `[['often', 5], ['rarely', 1]]`. */
  weigh<T>(choices: readonly (readonly [T, number])[]): T;
};

/**
 * Returns the same numbers for the same seed and purpose on every machine. Each purpose has its own sequence, so an extra
 * draw for one does not change the others. Mulberry32: 32 bits of state are enough for a plan.
 */
export function createRandom(seed: number, purpose: string): Random {
  let state = hash(`${seed} ${purpose}`);

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const below = (bound: number) => Math.floor(next() * bound);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: <T>(choices: readonly T[]) => choices[below(choices.length)] as T,
    weigh<T>(choices: readonly (readonly [T, number])[]) {
      let left = next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
      const found = choices.find(([, weight]) => {
        left -= weight;
        return left < 0;
      });
      return (found ?? choices[0])?.[0] as T;
    },
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (const byte of Buffer.from(text)) sum = Math.imul(sum ^ byte, 0x01000193);
  return sum | 0;
}

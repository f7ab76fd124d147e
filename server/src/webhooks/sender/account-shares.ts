export type AccountShares = {
  /** How many more places the account may take now. The last `reserved` places are not for it. */
  roomFor(accountUuid: string, reserved?: number): number;
  taken(accountUuid: string, count: number): void;
  freed(accountUuid: string, count: number): void;
};

/**
 * Shares places between accounts. An account may hold as many as are free: alone it gets half of them, two get a third each, and
 * some are always left for the next one, however long the others hold theirs.
 */
export function createAccountShares(places: number): AccountShares {
  const heldBy = new Map<string, number>();
  let free = places;
  return {
    roomFor(accountUuid, reserved = 0) {
      const held = heldBy.get(accountUuid) ?? 0;
      // Each place that is taken is also one less that is free.
      return Math.max(0, Math.min(Math.ceil((free - held) / 2), free - reserved));
    },
    taken(accountUuid, count) {
      free -= count;
      heldBy.set(accountUuid, (heldBy.get(accountUuid) ?? 0) + count);
    },
    freed(accountUuid, count) {
      free += count;
      const left = (heldBy.get(accountUuid) ?? 0) - count;
      if (left > 0) heldBy.set(accountUuid, left);
      else heldBy.delete(accountUuid);
    },
  };
}

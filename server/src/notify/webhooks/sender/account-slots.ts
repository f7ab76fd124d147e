export type AccountSlots = {
  total: number;
  /** How many more slots the account may take now, leaving the last `reserved` slots free. */
  availableTo(accountUuid: string, reserved?: number): number;
  acquire(accountUuid: string, count: number): void;
  release(accountUuid: string, count: number): void;
};

/**
 * Divides concurrency slots fairly between accounts. An account may hold as many slots as remain free: one account gets half of
 * them, two get a third each. Some always remain for the next account, however long the others hold theirs.
 */
export function createAccountSlots(total: number): AccountSlots {
  const heldBy = new Map<string, number>();
  let free = total;
  return {
    total,
    availableTo(accountUuid, reserved = 0) {
      const held = heldBy.get(accountUuid) ?? 0;
      // Halved, because each slot taken also leaves one fewer free.
      return Math.max(0, Math.min(Math.ceil((free - held) / 2), free - reserved));
    },
    acquire(accountUuid, count) {
      free -= count;
      heldBy.set(accountUuid, (heldBy.get(accountUuid) ?? 0) + count);
    },
    release(accountUuid, count) {
      free += count;
      const left = (heldBy.get(accountUuid) ?? 0) - count;
      if (left > 0) heldBy.set(accountUuid, left);
      else heldBy.delete(accountUuid);
    },
  };
}

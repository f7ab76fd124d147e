/**
 * Divides concurrency slots fairly between accounts. An account may hold as many slots as remain free: one account gets half of
 * them, two get a third each. Some always remain for the next account, however long the others hold theirs.
 */
export type AccountSlots = ReturnType<typeof createAccountSlots>;

export function createAccountSlots(total: number) {
  const heldBy = new Map<string, number>();
  let free = total;
  return {
    total,
    /** How many more slots the account may take now, leaving the last `reserved` slots free. */
    availableTo(accountUuid: string, reserved = 0): number {
      const held = heldBy.get(accountUuid) ?? 0;
      // Halved, because each slot taken also leaves one fewer free.
      return Math.max(0, Math.min(Math.ceil((free - held) / 2), free - reserved));
    },
    acquire(accountUuid: string, count: number): void {
      free -= count;
      heldBy.set(accountUuid, (heldBy.get(accountUuid) ?? 0) + count);
    },
    release(accountUuid: string, count: number): void {
      free += count;
      const left = (heldBy.get(accountUuid) ?? 0) - count;
      if (left > 0) heldBy.set(accountUuid, left);
      else heldBy.delete(accountUuid);
    },
  };
}

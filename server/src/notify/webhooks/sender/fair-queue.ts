type Entry = { endpointUuid: string; accountUuid: string };

type Rules = { mayTakeFor(accountUuid: string): boolean; hasRoom(endpointUuid: string): boolean };

/** A queue of endpoints, round-robin over accounts: one account's thousand endpoints don't delay another's only one. */
export function createFairQueue() {
  const accountOf = new Map<string, string>();
  const queues = new Map<string, Set<string>>();

  function remove(endpointUuid: string): void {
    const accountUuid = accountOf.get(endpointUuid);
    if (accountUuid === undefined) return;
    accountOf.delete(endpointUuid);
    const queue = queues.get(accountUuid);
    queue?.delete(endpointUuid);
    if (queue?.size === 0) queues.delete(accountUuid);
  }

  return {
    add({ endpointUuid, accountUuid }: Entry): void {
      if (accountOf.has(endpointUuid)) return;
      accountOf.set(endpointUuid, accountUuid);
      const queue = queues.get(accountUuid);
      if (queue) queue.add(endpointUuid);
      else queues.set(accountUuid, new Set([endpointUuid]));
    },
    delete: remove,
    has: (endpointUuid: string): boolean => accountOf.has(endpointUuid),
    endpoints: (): Iterable<string> => accountOf.keys(),
    /** Removes and returns the next endpoint the rules allow. */
    take({ mayTakeFor, hasRoom }: Rules): Entry | null {
      for (const [accountUuid, queue] of queues) {
        if (!mayTakeFor(accountUuid)) continue;
        for (const endpointUuid of queue) {
          if (!hasRoom(endpointUuid)) continue;
          remove(endpointUuid);
          // Move the account to the end of the round.
          if (queues.delete(accountUuid)) queues.set(accountUuid, queue);
          return { endpointUuid, accountUuid };
        }
      }
      return null;
    },
  };
}

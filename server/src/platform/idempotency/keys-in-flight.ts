/**
 * Keys whose first request is still running in this process. The database lock decides between processes; this rejects
 * duplicates within one process at once, without a query.
 */
export type KeysInFlight = { enter(claimId: string): boolean; leave(claimId: string): void };

export function createKeysInFlight(): KeysInFlight {
  const running = new Set<string>();
  return {
    enter: (claimId) => !running.has(claimId) && running.add(claimId) !== undefined,
    leave: (claimId) => running.delete(claimId),
  };
}

/**
 * Keys whose first request still runs in this process. The database's lock decides between processes; this spares
 * it the duplicates of one process, and tells a second request at once.
 */
export type KeysInFlight = { enter(claimId: string): boolean; leave(claimId: string): void };

export function createKeysInFlight(): KeysInFlight {
  const running = new Set<string>();
  return {
    enter: (claimId) => !running.has(claimId) && running.add(claimId) !== undefined,
    leave: (claimId) => running.delete(claimId),
  };
}

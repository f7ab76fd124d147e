import { lowestUuid } from '../../../platform/ids/uuid-range.ts';
import { type PromoteDeps, promoteAndAnnounce } from './promote.ts';
import { findPromotable, type Place, setPositions } from './sql.ts';

const batchSize = 1_000;

/**
 * Gives blocked deliveries the positions that their events have got, and sends those that wait for no other. Call it after
 * positions were assigned. Any number of processes may run it concurrently.
 */
export async function placeInOrder(deps: PromoteDeps): Promise<void> {
  let afterEvent: string | null = lowestUuid;
  while (afterEvent !== null) {
    const { keys, nextEvent } = await setPositions(deps.db, afterEvent, batchSize);
    await promoteAndAnnounce(deps, keys);
    afterEvent = nextEvent;
  }
}

// 2,000 keys that all wait for an earlier delivery take 20 ms.
const keysPerRun = 2_000;
const start: Place = { endpointUuid: lowestUuid, iccid: '' };

/**
 * A chore, the fallback for a process that died after it had stored a position or ended a delivery: walks the keys with blocked
 * deliveries, some in each run, and sends those whose turn has come.
 */
export function createOrderFallback(deps: PromoteDeps): () => Promise<void> {
  let after = start;
  return async () => {
    await placeInOrder(deps);
    const { keys, next } = await findPromotable(deps.db, after, { count: keysPerRun, isOneEndpoint: false });
    after = next ?? start;
    await promoteAndAnnounce(deps, keys);
  };
}

/** Sends what waited for the endpoint's recovery. */
export async function promoteOfEndpoint(deps: PromoteDeps, endpointUuid: string): Promise<void> {
  let after: Place | null = { ...start, endpointUuid };
  while (after !== null) {
    const walked = await findPromotable(deps.db, after, { count: keysPerRun, isOneEndpoint: true });
    await promoteAndAnnounce(deps, walked.keys);
    after = walked.next;
  }
}

import { lowestUuid } from '../../../platform/ids/uuid-range.ts';
import { type PromoteDeps, promoteAndAnnounce } from './promote.ts';
import { setPositions } from './sql.ts';

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

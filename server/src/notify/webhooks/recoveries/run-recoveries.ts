import { idPrefixes } from '@simplane/contract';
import type { Clock } from '../../../platform/clock.ts';
import type { Database, Queryable } from '../../../platform/db/database.ts';
import type { Signals } from '../../../platform/db/signals.ts';
import { idOfUuid, uuidText } from '../../../platform/ids/uuid.ts';
import type { NewUuid } from '../../../platform/ids/uuid-v7.ts';
import { subscriptionsOf } from '../../events/subscriptions.ts';
import { promoteOfEndpoint } from '../ordered/place-in-order.ts';
import { endpointIdOf } from '../sql-pieces.ts';
import {
  advanceRecovery,
  closeOrphanedRecoveries,
  type FoundEvent,
  insertMissed,
  type LockedRecovery,
  lockRecovery,
  readEvents,
} from './sql.ts';

type Deps = {
  clock: Clock;
  newUuid: NewUuid;
  signals: Pick<Signals, 'announce'>;
  /** Events per transaction. */
  batchSize?: number;
  /** The accounts that had a batch in this round. Kept between runs, an account whose batch fails does not hold up the others. */
  served?: Set<string>;
};

// Limits one run, so a stopping process does not wait for a long recovery.
const batchesPerRun = 100;

/**
 * A chore: continues recoveries, one batch of events per transaction, and returns how many deliveries it queued. A batch and
 * its new position and counts commit together, so a recovery resumes where a killed process left it. Accounts take turns, so
 * one that starts a thousand recoveries delays only its own.
 */
export async function runRecoveries(db: Database, deps: Deps): Promise<number> {
  await closeOrphanedRecoveries(db, new Date(deps.clock.nowMs()));
  const { served = new Set() } = deps;
  let queued = 0;
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const step = await db.transaction((tx) => recoverBatch(tx, deps, served));
    if (!step) break;
    queued += step.queued;
    if (step.queued > 0) deps.signals.announce('deliveries', step.accountUuid);
    if (step.isFinished) await promoteOfEndpoint({ ...deps, db }, step.endpointUuid);
  }
  return queued;
}

type Step = { accountUuid: string; endpointUuid: string; queued: number; isFinished: boolean };

/** Returns null if there is nothing to do or other processes are doing it. */
async function recoverBatch(tx: Queryable, deps: Deps, served: Set<string>): Promise<Step | null> {
  const { batchSize = 500 } = deps;
  const recovery = await lockNext(tx, served);
  if (!recovery) return null;
  served.add(recovery.account_id);
  const now = new Date(deps.clock.nowMs());
  const events = await readEvents(tx, recovery, batchSize);
  const endpoint = { uuid: recovery.endpoint_id, enabledEventTypes: recovery.enabled_event_types };
  const missed = candidatesOf(events, endpoint).map(({ id, iccid }) => ({
    uuid: uuidText(deps.newUuid()),
    eventUuid: id,
    iccid,
  }));
  const queued = await insertMissed(tx, recovery, { events: missed, createdAt: now });
  const isFinished = events.length < batchSize;
  await advanceRecovery(tx, recovery, {
    position: events.at(-1)?.id ?? recovery.from_event,
    checked: events.length,
    queued,
    finishedAt: isFinished ? now : null,
  });
  return { accountUuid: recovery.account_id, endpointUuid: recovery.endpoint_id, queued, isFinished };
}

/** After the last account, the round starts again. */
async function lockNext(tx: Queryable, served: Set<string>): Promise<LockedRecovery | null> {
  const next = await lockRecovery(tx, [...served]);
  if (next || served.size === 0) return next;
  served.clear();
  return lockRecovery(tx, []);
}

/**
 * Those of the events that the endpoint would get if it missed them. Uses its current subscriptions, not those at the time of the
 * event, and leaves out events about itself.
 */
export function candidatesOf(
  events: FoundEvent[],
  endpoint: { uuid: string; enabledEventTypes: string[] },
): FoundEvent[] {
  const endpointId = idOfUuid(idPrefixes.webhookEndpoint, endpoint.uuid);
  const subscribes = (type: string) =>
    subscriptionsOf(type).some((subscription) => endpoint.enabledEventTypes.includes(subscription));
  return events.filter((event) => subscribes(event.type) && endpointIdOf(event) !== endpointId);
}

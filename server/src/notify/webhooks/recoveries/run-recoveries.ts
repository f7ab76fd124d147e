import type { Clock } from '../../../platform/clock.ts';
import type { Database, Queryable } from '../../../platform/db/database.ts';
import type { Signals } from '../../../platform/db/signals.ts';
import { uuidText } from '../../../platform/ids/uuid.ts';
import type { NewUuid } from '../../../platform/ids/uuid-v7.ts';
import { promoteOfEndpoint } from '../ordered/place-in-order.ts';
import { candidatesOf } from './candidates.ts';
import {
  advanceRecovery,
  closeOrphanedRecoveries,
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

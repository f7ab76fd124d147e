import type { Clock } from '../../clock.ts';
import type { Database, Queryable } from '../../db/database.ts';
import type { Signals } from '../../db/signals.ts';
import { subscriptionsOf } from '../../events/subscriptions.ts';
import { uuidText } from '../../ids/uuid.ts';
import type { NewUuid } from '../../ids/uuid-v7.ts';
import {
  closeHopelessRecoveries,
  insertMissed,
  moveRecovery,
  type RecoveryRow,
  readEvents,
  takeRecovery,
} from './recovery-sql.ts';

type Deps = {
  clock: Clock;
  newUuid: NewUuid;
  signals: Pick<Signals, 'announce'>;
  /** Events that one transaction looks at. */
  batchSize?: number;
};

// A bound on one run, so that a process which stops does not wait for the end of a long recovery.
const batchesPerRun = 100;

/**
 * A chore: carries recoveries on, a batch of events a transaction, and says how many deliveries it queued. The batch and
 * the step of the position commit together: whoever is killed leaves a recovery that goes on where it stood.
 */
export async function runRecoveries(db: Database, deps: Deps): Promise<number> {
  await closeHopelessRecoveries(db, new Date(deps.clock.nowMs()));
  let queued = 0;
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const step = await db.transaction((tx) => recoverBatch(tx, deps));
    if (!step) break;
    queued += step.queued;
    if (step.queued > 0) deps.signals.announce('deliveries', step.accountUuid);
  }
  return queued;
}

type Step = { accountUuid: string; queued: number };

/** Null: there is nothing to do, or others are doing it. */
async function recoverBatch(tx: Queryable, deps: Deps): Promise<Step | null> {
  const { batchSize = 500 } = deps;
  const recovery = await takeRecovery(tx);
  if (!recovery) return null;
  const now = new Date(deps.clock.nowMs());
  const events = await readEvents(tx, recovery, batchSize);
  const wanted = events.filter(({ type }) => subscribes(recovery, type)).map(({ id }) => id);
  const queued = await insertMissed(tx, recovery, {
    uuids: wanted.map(() => uuidText(deps.newUuid())),
    eventUuids: wanted,
    createdAt: now,
  });
  await moveRecovery(tx, recovery, {
    position: events.at(-1)?.id ?? recovery.from_event,
    finishedAt: events.length < batchSize ? now : null,
  });
  return { accountUuid: recovery.account_id, queued };
}

/** By what the endpoint subscribes to now, not by what it did when the event happened. */
function subscribes({ enabled_event_types }: RecoveryRow, type: string): boolean {
  return subscriptionsOf(type).some((subscription) => enabled_event_types.includes(subscription));
}

import { idPrefixes } from '@simplane/contract';
import type { Database, Queryable } from '../../../platform/db/database.ts';
import type { Announcing } from '../../../platform/db/signals.ts';
import { idOfUuid, uuidText } from '../../../platform/ids/uuid.ts';
import { unixMsOf } from '../../../platform/ids/uuid-range.ts';
import type { TimeAndIds } from '../../../platform/ids/uuid-v7.ts';
import { subscriptionsOf } from '../../events/subscriptions.ts';
import { promoteOfEndpoint } from '../ordered/place-in-order.ts';
import { endpointIdOf } from '../sql-pieces.ts';
import { forgetGaps } from '../undelivered/gaps.ts';
import {
  advanceRecovery,
  closeOrphanedRecoveries,
  type FoundEvent,
  insertMissed,
  type LockedRecovery,
  lockRecovery,
  readEvents,
} from './sql.ts';

type Deps = TimeAndIds & {
  signals: Announcing['signals'];
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
  const wanted = {
    endpointUuid: recovery.endpoint_id,
    // What was undelivered was subscribed to when it happened.
    subscriptions: recovery.is_of_undelivered ? ['*'] : recovery.enabled_event_types,
    types: recovery.types,
  };
  const missed = candidatesOf(events, wanted).map(({ id, account_id, iccid }) => ({
    uuid: uuidText(deps.newUuid()),
    eventUuid: id,
    accountUuid: account_id,
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
  if (isFinished && recovery.types === null) await forgetSearched(tx, recovery);
  return { accountUuid: recovery.account_id, endpointUuid: recovery.endpoint_id, queued, isFinished };
}

function forgetSearched(tx: Queryable, recovery: LockedRecovery): Promise<void> {
  const { account_id: accountUuid, endpoint_id: endpointUuid, created_at: createdAt } = recovery;
  const untilMs = unixMsOf(recovery.until_event);
  const searched = {
    sinceMs: recovery.is_of_undelivered ? null : unixMsOf(recovery.from_event),
    untilMs: untilMs > createdAt.getTime() ? null : untilMs,
    createdAt,
  };
  return forgetGaps(tx, { accountUuid, endpointUuid }, searched);
}

/** After the last account, the round starts again. */
async function lockNext(tx: Queryable, served: Set<string>): Promise<LockedRecovery | null> {
  const next = await lockRecovery(tx, [...served]);
  if (next || served.size === 0) return next;
  served.clear();
  return lockRecovery(tx, []);
}

type Candidate = FoundEvent & { type: string };
type Candidates = { endpointUuid: string; subscriptions: string[]; types: string[] | null };

/** Those of the events that the endpoint would get if it missed them: of these subscriptions and types, and not about itself. */
export function candidatesOf(
  events: FoundEvent[],
  { endpointUuid, subscriptions, types }: Candidates,
): Candidate[] {
  const endpointId = idOfUuid(idPrefixes.webhookEndpoint, endpointUuid);
  const matches = (type: string, names: string[]) =>
    subscriptionsOf(type).some((subscription) => names.includes(subscription));
  return events.filter(
    (event): event is Candidate =>
      event.type !== null &&
      matches(event.type, subscriptions) &&
      (types === null || matches(event.type, types)) &&
      endpointIdOf(event) !== endpointId,
  );
}

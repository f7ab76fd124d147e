import { type Event, type EventTypeName, idPrefixes } from '@simplane/contract';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { unixMsOf } from '../../platform/ids/uuid-range.ts';
import { bucketOf, unknownBucket } from '../../platform/telemetry/histogram.ts';
import { progressOf, type Sighting } from './plan-milestones.ts';
import {
  addCounts,
  advanceCounted,
  type Count,
  claimUncounted,
  findCountedEsims,
  findEndedOrders,
  insertMilestones,
  type OrderEvent,
  readUncounted,
  type Uncounted,
  type UncountedRow,
} from './sql/counting.ts';
import { hourMs, maxHours, meaningOf, type Stage } from './stages.ts';

// An order costs 15 µs in PostgreSQL and 13 in Node, on a loaded machine; a pass of 1,000 takes 70 ms there.
const accountsPerPass = 50;
const eventsPerAccount = 1_000;

/**
 * Counts the events that got their positions since the last call. Safe in any number of processes at once. Makes another pass only
 * after a full one, because small passes cost more per event.
 */
export async function countEvents(
  { db, clock }: { db: Database; clock: Clock },
  stopping?: AbortSignal,
): Promise<void> {
  let isFull = true;
  while (isFull && !stopping?.aborted) isFull = await pass(db, clock);
}

/** One transaction, so each event is counted once, wherever a process dies. Returns whether there may be more. */
function pass(db: Database, clock: Clock): Promise<boolean> {
  return db.transaction(async (tx) => {
    const claimed = await claimUncounted(tx, accountsPerPass);
    if (claimed.length === 0) return false;
    const rows = await readUncounted(tx, claimed, { types: Object.keys(meaningOf), count: eventsPerAccount });
    const counts = await countsOf(tx, rows, new Date(clock.nowMs() - maxHours * hourMs));
    if (counts.length > 0) await addCounts(tx, counts);
    const progress = progressByAccount(claimed, rows);
    await advanceCounted(tx, [...progress.values()]);
    const isFull = claimed.some(
      ({ accountUuid, position }) =>
        (progress.get(accountUuid)?.position ?? 0) - position >= eventsPerAccount,
    );
    return isFull || claimed.length === accountsPerPass;
  });
}

type Known = {
  accountUuid: string;
  eventUuid: string;
  stage: Stage;
  isReached: boolean;
  data: Event['data'];
};

/** Of orders accepted since `since`. */
async function countsOf(tx: Queryable, rows: UncountedRow[], since: Date): Promise<Count[]> {
  const events = rows.flatMap(({ accountUuid, eventUuid, type, body }): Known[] => {
    const meaning = meaningOf[type as EventTypeName];
    if (!meaning || eventUuid === null || body === null) return [];
    return [{ accountUuid, eventUuid, ...meaning, data: JSON.parse(body).data }];
  });
  const ofOrders = events.filter(({ stage }) => stage === 'provisioned');
  const ofProgress = events.filter(({ stage }) => stage !== 'provisioned');
  return [...(await countOrders(tx, ofOrders, since)), ...(await countProgress(tx, ofProgress, since))];
}

async function countOrders(tx: Queryable, events: Known[], since: Date): Promise<Count[]> {
  const orders = new Map<string, OrderEvent>();
  for (const { accountUuid, eventUuid, data } of events) {
    const { execution_id: executionId } = data;
    if (typeof executionId !== 'string') continue;
    const executionUuid = uuidOfId(idPrefixes.execution, executionId);
    // A second event of the same order in one pass is a test event.
    if (executionUuid === null || orders.has(executionUuid)) continue;
    orders.set(executionUuid, { accountUuid, eventUuid, executionUuid, executionId });
  }
  const given = [...orders.values()];
  const ended = given.length > 0 ? await findEndedOrders(tx, given) : [];
  return ended
    .filter(({ createdAt }) => createdAt >= since)
    .map(({ n, code, createdAt, durationMs }) => ({
      accountUuid: (given[n - 1] as OrderEvent).accountUuid,
      hour: hourOf(createdAt),
      stage: 'provisioned',
      code: code ?? '',
      bucket: code === null ? bucketOf(durationMs) : unknownBucket,
      count: 1,
    }));
}

async function countProgress(tx: Queryable, events: Known[], since: Date): Promise<Count[]> {
  const sightings = events.flatMap(({ accountUuid, eventUuid, stage, isReached, data }): Sighting[] => {
    const { iccid, error } = data as { iccid?: unknown; error?: { code?: unknown } };
    if (typeof iccid !== 'string') return [];
    const code = isReached ? '' : String(error?.code ?? 'other').slice(0, 100);
    return [{ accountUuid, iccid, stage, code, at: new Date(unixMsOf(eventUuid)) }];
  });
  if (sightings.length === 0) return [];
  const keys = new Map(sightings.map((one) => [`${one.accountUuid} ${one.iccid}`, one]));
  const esims = await findCountedEsims(tx, [...keys.values()]);
  const { milestones, reached } = progressOf(
    sightings,
    esims.filter(({ createdAt }) => createdAt >= since),
  );
  if (milestones.length > 0) await insertMilestones(tx, milestones);
  return reached.map(({ orderedAt, ...one }) => ({ ...one, hour: hourOf(orderedAt), count: 1 }));
}

/** The end of the last run read of each account. If there is none, the feed has removed what was to be counted. */
function progressByAccount(claimed: Uncounted[], rows: UncountedRow[]) {
  const progress = new Map(
    claimed.map(({ accountUuid, lastPosition }) => [
      accountUuid,
      { accountUuid, position: lastPosition, countedTo: epoch },
    ]),
  );
  for (const { accountUuid, position, newestUuid } of rows) {
    progress.set(accountUuid, { accountUuid, position, countedTo: new Date(unixMsOf(newestUuid)) });
  }
  return progress;
}

const epoch = new Date(0);

function hourOf(at: Date): Date {
  return new Date(at.getTime() - (at.getTime() % hourMs));
}

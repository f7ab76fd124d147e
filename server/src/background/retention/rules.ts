import { deployment } from '../../accounts/deployment.ts';
import { type Expiry, expireFeeds, type OldEvents, planExpiry } from '../../notify/feed/expire.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { hourMs, maxHours } from '../../views/overview/stages.ts';
import { type Age, countOldEvents, deleteEvents, deleteRows, deleteUsage, type Range } from './sql.ts';

/** How long the rows of a table are kept, and how old ones are removed. */
export type Rule = {
  table: string;
  age: Age;
  keptMs: number;
  /** Removes the range's rows that are older than `than`, except those that must stay. Returns how many. */
  remove(tx: Queryable, range: Range, than: Date): Promise<number>;
};

type Settings = { retentionMs: number; usageMaxAgeMs: number };

const dayMs = 86_400_000;

/** What `sweep` removes. Idempotency keys and sessions have an expiry of their own, with an index (`../chores.ts`). */
export function rulesOf({ retentionMs, usageMaxAgeMs }: Settings): Rule[] {
  // A day longer than it is accepted, so that no record is forgotten while it could still count again.
  const usageMs = usageMaxAgeMs + dayMs;
  // An hour longer than the longest window of an overview, which starts with a full hour.
  const countsMs = (maxHours + 1) * hourMs;
  return [
    { table: 'events', age: { column: 'id', type: 'uuid' }, keptMs: retentionMs, remove: removeEvents },
    deleting('deliveries', { column: 'id', type: 'uuid' }, retentionMs),
    deleting('recoveries', { column: 'id', type: 'uuid' }, retentionMs, 'finished_at is not null'),
    deleting('delivery_attempts', { column: 'delivery_id', type: 'uuid' }, retentionMs, hasEnded),
    deleting('endpoint_gaps', { column: 'until_at', type: 'time' }, retentionMs),
    deleting('endpoint_hours', { column: 'hour', type: 'time' }, retentionMs),
    deleting('request_log', { column: 'id', type: 'uuid' }, 7 * dayMs),
    deleting('audit_log', { column: 'id', type: 'uuid' }, 365 * dayMs),
    deleting('order_counts', { column: 'hour', type: 'time' }, countsMs),
    deleting('esim_milestones', { column: 'esim_id', type: 'uuid' }, countsMs),
    deleting('install_links', { column: 'expires_at', type: 'time' }, 30 * dayMs),
    deleting('rejected_usage', { column: 'rejected_at', type: 'time' }, 90 * dayMs),
    {
      table: 'usage_records',
      age: { column: 'observed_at', type: 'time' },
      keptMs: usageMs,
      remove: deleteUsage,
    },
  ];
}

/** The attempts of a queued delivery stay: it is still being tried. */
const hasEnded = `not exists (
    select from delivery_queue
    where account_id = delivery_attempts.account_id and id = delivery_attempts.delivery_id
    offset 0)`;

function deleting(table: string, age: Age, keptMs: number, condition = 'true'): Rule {
  return {
    ...{ table, age, keptMs },
    remove: (tx, range, than) => deleteRows(tx, { range, age, than, condition }),
  };
}

/**
 * Deletes the range's events that are older than `than` and that no feed promises any more. In one transaction with the feeds: a reader
 * that is further behind gets an error instead of a gap.
 */
export async function removeEvents(tx: Queryable, range: Range, than: Date): Promise<number> {
  const old = { range, thanUuid: lowestUuidAt(than.getTime()) };
  const counts = await countOldEvents(tx, old);
  if (counts.length === 0) return 0;
  const plans = await planExpiry(tx, withDeployment(counts), than);
  const removed = await deleteEvents(tx, old, keptByDeployment(plans));
  // Last, because the sequencer waits for the feeds that this locks.
  await expireFeeds(tx, plans);
  return removed;
}

/** Every event is in the deployment's feed too, so it expires as far as the accounts' feeds do together. */
function withDeployment(counts: readonly OldEvents[]): OldEvents[] {
  const count = counts.reduce((sum, one) => sum + one.count, 0);
  return [...counts.filter((one) => !isDeployment(one)), { accountUuid: deployment.uuid, count }];
}

/** What the deployment's feed still promises stays in every account. */
function keptByDeployment(plans: readonly Expiry[]): Expiry[] {
  const kept = plans.find(isDeployment)?.keptFromUuid ?? null;
  return plans.map((plan) => ({ ...plan, keptFromUuid: lower(plan.keptFromUuid, kept) }));
}

function isDeployment({ accountUuid }: { accountUuid: string }): boolean {
  return accountUuid === deployment.uuid;
}

function lower(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

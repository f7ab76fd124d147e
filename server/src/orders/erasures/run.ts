import { emit } from '../../notify/events/emit.ts';
import { newEvent } from '../../notify/events/new-event.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import type { Announcing } from '../../platform/db/signals.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { inBatches } from '../../platform/worker/in-batches.ts';
import { type Step, steps } from './personal-data.ts';
import { advanceErasure, lockNextErasure, type OpenErasure } from './sql.ts';

type Deps = TimeAndIds & Announcing;

/**
 * Erases personal data, batch after batch until nothing is left. Accounts take turns, a batch each, and each batch commits with the place
 * that it has reached: a process that dies repeats nothing, and several may run it at once. 50,000 eSIMs with their orders, events,
 * deliveries and log entries take 20 s of PostgreSQL, and the pauses between batches as long again.
 */
export async function runErasures(db: Database, deps: Deps, stopping?: AbortSignal): Promise<void> {
  let after: string | null = lowestUuid;
  let erased = 0;
  await inBatches({ size: 1, stopping }, async () => {
    if (after === null) [after, erased] = [lowestUuid, 0];
    const from: string = after;
    after = await db.transaction((tx) => eraseNext(tx, deps, from));
    if (after !== null) {
      erased += 1;
      deps.signals.announce('deliveries', after);
    }
    return after !== null || erased > 0 ? 1 : 0;
  });
}

/** Returns the account whose turn it was; null if no account after this one has an erasure. */
async function eraseNext(tx: Queryable, deps: Deps, afterUuid: string): Promise<string | null> {
  const erasure = await lockNextErasure(tx, afterUuid);
  if (!erasure) return null;
  const kind = erasure.iccid === null ? 'account' : 'esim';
  const own = steps.filter((step) => step[kind]);
  const found = own.findIndex((step) => nameOf(step) === erasure.step);
  // The step may be one of another release, and its place means nothing here: then all are done again.
  const [place, after] = found < 0 ? [0, null] : [found, erasure.after];
  const erase = own[place]?.[kind];
  const reached = (await erase?.(tx, erasure, after)) ?? null;
  const next = reached === null ? own[place + 1] : own[place];
  await advanceErasure(tx, {
    ...erasure,
    step: next ? nameOf(next) : erasure.step,
    after: reached,
    finished_at: next ? null : new Date(deps.clock.nowMs()),
  });
  if (!next) await tell(tx, deps, erasure);
  return erasure.account_id;
}

function nameOf({ table, columns }: Step): string {
  return columns === 'rows' ? `rows of ${table}` : table;
}

/** The account's own systems may have copies. An account that is gone has no receiver. */
async function tell(
  tx: Queryable,
  deps: Deps,
  { account_id: accountUuid, iccid }: OpenErasure,
): Promise<void> {
  if (iccid !== null) await emit(tx, [newEvent(deps, { accountUuid, type: 'esim.erased', data: { iccid } })]);
}

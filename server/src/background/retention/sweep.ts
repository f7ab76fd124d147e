import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { inBatches } from '../../platform/worker/in-batches.ts';
import type { Rule } from './rules.ts';
import { addRanges, findOldestMs, type Range, setDue, takeDueRange } from './sql.ts';

/**
 * Removes old rows of all accounts, in the order in which they lie on disk, which is about the order of time. Each range of pages is a
 * transaction of its own, and workers take turns. Returns how many rows it removed.
 */
export async function sweep(
  db: Database,
  clock: Clock,
  rules: readonly Rule[],
  stopping?: AbortSignal,
): Promise<number> {
  const nowMs = clock.nowMs();
  const failures: unknown[] = [];
  let removed = 0;
  await addRanges(
    db,
    rules.map(({ table }) => table),
  );
  await inBatches({ size: 1, stopping }, async () => {
    const swept = await sweepNext(db, rules, nowMs);
    if (swept?.failure) failures.push(swept.failure);
    removed += swept?.removed ?? 0;
    return swept ? 1 : 0;
  });
  if (failures.length > 0) throw failures[0];
  return removed;
}

type Swept = { removed: number; failure?: unknown };

/** Sweeps the range that has been due longest. Null if there is none, or another worker has its turn. */
async function sweepNext(db: Database, rules: readonly Rule[], nowMs: number): Promise<Swept | null> {
  const tables = rules.map(({ table }) => table);
  const ruleOf = ({ table }: Range) => rules.find((rule) => rule.table === table) as Rule;
  let range = null as Range | null;
  try {
    return await db.transaction(async (tx) => {
      range = await takeDueRange(tx, tables, new Date(nowMs));
      if (!range) return null;
      const rule = ruleOf(range);
      const removed = await rule.remove(tx, range, new Date(nowMs - rule.keptMs));
      await setDue(tx, range, dueAfter(rule, nowMs, await findOldestMs(tx, range, rule.age)));
      return { removed };
    });
  } catch (failure) {
    if (!range) throw failure;
    // Later, because the other ranges must not wait for this one.
    await setDue(db, range, dueAfter(ruleOf(range), nowMs, 0));
    return { removed: 0, failure };
  }
}

/**
 * When the oldest row that is left has expired, and a little later, so that others have expired with it and one that must stay is not
 * read every minute. New rows are younger. Not too late: some rows are older than the time they are written, and a restore puts rows
 * elsewhere.
 */
function dueAfter({ keptMs }: Rule, nowMs: number, oldestMs: number | null): Date {
  const laterMs = Math.max(1, keptMs / 720);
  const latestMs = nowMs + Math.max(1, keptMs / 2);
  return new Date(Math.min(latestMs, Math.max(nowMs, (oldestMs ?? nowMs) + keptMs) + laterMs));
}

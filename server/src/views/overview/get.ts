import type { InputFor, Overview } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { timeWindowOf } from '../../platform/lists/time-window.ts';
import { quantile } from '../../platform/telemetry/histogram.ts';
import { type CountRow, findCountedTo, readCounts, readOpenOrders } from './sql/reading.ts';
import { hourMs, maxHours, type Stage, stages } from './stages.ts';

const maxFailures = 50;
export const grid = { stepMs: hourMs, defaultSteps: 24, maxSteps: maxHours, unit: 'hours' };

/** The account's orders of the last day, or of the given hours. From the workers' counts, so its time does not depend on their number. */
export async function getOverview(ctx: Context, { query }: InputFor<'getOverview'>): Promise<Overview> {
  const nowMs = ctx.clock.nowMs();
  const window = timeWindowOf(query, nowMs, grid);
  const { from, until } = window;
  const ids = { fromUuid: lowestUuidAt(from.getTime()), untilUuid: lowestUuidAt(until.getTime()) };
  const [countedTo, counts, open] = await Promise.all([
    findCountedTo(ctx.db, ctx.account.uuid),
    readCounts(ctx.db, ctx.account.uuid, window),
    readOpenOrders(ctx.db, ctx.account.uuid, ids),
  ]);
  const hours = hoursOf(window, counts, open);
  const accepted = hours.reduce((sum, hour) => sum + hour.accepted, 0);
  return {
    object: 'overview',
    from: unixSeconds(from),
    until: unixSeconds(until),
    as_of: Math.floor(Math.min(nowMs, countedTo?.getTime() ?? nowMs) / 1000),
    funnel: [
      { stage: 'accepted', count: accepted, median_ms: null, p95_ms: null },
      ...stages.map((stage) => stageOf(stage, counts)),
    ],
    open_count: open.reduce((sum, { count }) => sum + count, 0),
    failed_count: hours.reduce((sum, { failed }) => sum + failed, 0),
    failures: failuresOf(counts),
    hours,
  };
}

type Hour = Overview['hours'][number];

/** Every hour of the window, oldest first. An order was accepted if it has ended or is open. */
export function hoursOf(
  { from, until }: { from: Date; until: Date },
  counts: CountRow[],
  open: { hour: Date; count: number }[],
): Hour[] {
  const hours = new Map<number, Hour>();
  for (let ms = from.getTime(); ms < until.getTime(); ms += hourMs) {
    const none = { accepted: 0, provisioned: 0, failed: 0, downloaded: 0, installed: 0, active: 0 };
    hours.set(ms, { start: ms / 1000, ...none });
  }
  for (const { hour, stage, isReached, count } of counts) {
    const sums = hour && hours.get(hour.getTime());
    if (!sums) continue;
    if (isReached) sums[stage] += count;
    else if (stage === 'provisioned') sums.failed += count;
    if (stage === 'provisioned') sums.accepted += count;
  }
  for (const { hour, count } of open) {
    const sums = hours.get(hour.getTime());
    if (sums) sums.accepted += count;
  }
  return [...hours.values()];
}

export function stageOf(stage: Stage, counts: CountRow[]): Overview['funnel'][number] {
  const buckets = new Map<number, number>();
  let total = 0;
  for (const row of counts) {
    if (row.stage !== stage || row.code !== '') continue;
    buckets.set(row.bucket, row.count);
    total += row.count;
  }
  return { stage, count: total, median_ms: quantile(buckets, 0.5), p95_ms: quantile(buckets, 0.95) };
}

export function failuresOf(counts: CountRow[]): Overview['failures'] {
  return mostFrequent(counts.flatMap(({ stage, code, count }) => (code ? [{ stage, code, count }] : [])));
}

/** The most frequent first. */
export function mostFrequent(failures: Overview['failures']): Overview['failures'] {
  return failures.toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1)).slice(0, maxFailures);
}

import type { EsimUsage, InputFor } from '@simplane/contract';
import type { ReadContext } from '../../accounts/context.ts';
import { requireEsim } from '../../orders/esims/get.ts';
import { invalid } from '../../platform/app-error.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { timeWindowOf } from '../../platform/lists/time-window.ts';
import { sumUsage } from './sql.ts';

const grids = {
  hour: { stepMs: 3_600_000, defaultSteps: 24, maxSteps: 744, unit: 'hours' },
  day: { stepMs: 86_400_000, defaultSteps: 30, maxSteps: 366, unit: 'days' },
};

export async function getEsimUsage(
  ctx: ReadContext,
  { params, query }: InputFor<'getEsimUsage'>,
): Promise<EsimUsage> {
  const { interval = 'day' } = query;
  const { from, until } = timeWindowOf(query, ctx.clock.nowMs(), grids[interval]);
  if (interval === 'hour') requireHours(ctx, from);
  const { iccid } = await requireEsim(ctx.db, ctx.account.uuid, params.iccid);
  const stepSeconds = grids[interval].stepMs / 1000;
  const sums = await sumUsage(ctx.db, { iccid, from, until, stepSeconds });
  const bytesAt = new Map(sums.map(({ start, bytes }) => [unixSeconds(start), bytes]));
  const points: EsimUsage['points'] = [];
  for (let start = unixSeconds(from); start < unixSeconds(until); start += stepSeconds) {
    points.push({ start, used_bytes: bytesAt.get(start) ?? 0 });
  }
  return {
    object: 'esim_usage',
    iccid,
    interval,
    from: unixSeconds(from),
    until: unixSeconds(until),
    used_bytes: sums.reduce((total, { bytes }) => total + bytes, 0),
    points,
  };
}

/** Records are kept for a day longer than they are accepted. Older ones may have been added up to days. */
function requireHours({ clock, usageMaxAgeMs }: ReadContext, from: Date): void {
  const oldest = unixSeconds(clock.nowMs() - usageMaxAgeMs - grids.day.stepMs);
  if (unixSeconds(from) >= oldest) return;
  throw invalid('from', `Usage by the hour is kept from ${oldest} on. Send a later from, or interval=day.`);
}

import type { EsimStatus } from '@simplane/contract';
import { countUsage } from '../bundles/count-usage.ts';
import { type Change, type Happening, passTime, promote } from '../bundles/plan.ts';
import { mayHappen } from '../esims/state.ts';

type Esim = { status: EsimStatus; country: string | null; country_observed_at: Date | null };
type Usage = { bytes: number; at: Date; country: string | null };

export type UsagePlan = Esim & { bundles: Change['bundles']; happenings: readonly UsageHappening[] };

export type UsageHappening =
  | Happening
  | { type: 'esim.activated' }
  | { type: 'esim.country_changed'; country: string; previousCountry: string };

/**
 * Decides what these records, oldest first, make of an eSIM and its bundles, and which events that takes, in order. A record
 * with a country counts as an attach first. Every record is decided on the outcome of the one before, without a database.
 */
export function planUsage(
  before: Esim,
  bundles: Change['bundles'],
  records: readonly Usage[],
  now: Date,
): UsagePlan {
  let { status, country, country_observed_at } = before;
  let change: Change = { bundles, happenings: [] };
  const happenings: UsageHappening[] = [];
  const take = (next: Change) => {
    happenings.push(...next.happenings);
    change = next.happenings.length > 0 ? { bundles: next.bundles, happenings: [] } : next;
  };
  for (const record of records) {
    if (mayHappen('activate', status)) {
      status = 'active';
      happenings.push({ type: 'esim.activated' });
    }
    const promotes = status === 'active';
    if (record.country !== null) {
      if (promotes) take(promote(passTime(change, now, { promotes }), record.at));
      if (!country_observed_at || record.at > country_observed_at) {
        if (country !== null && country !== record.country) {
          const news = { country: record.country, previousCountry: country };
          happenings.push({ type: 'esim.country_changed', ...news });
        }
        country = record.country;
        country_observed_at = record.at;
      }
    }
    take(countUsage(passTime(change, now, { promotes }), record, { promotes }));
  }
  return { status, country, country_observed_at, bundles: change.bundles, happenings };
}

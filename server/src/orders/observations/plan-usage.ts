import type { EsimStatus } from '@simplane/contract';
import { countUsage } from '../bundles/count-usage.ts';
import { type BundleEvent, type Change, expireDue, promote } from '../bundles/plan.ts';
import { canTransition } from '../esims/state.ts';

type Esim = { status: EsimStatus; country: string | null; country_observed_at: Date | null };
type Usage = { bytes: number; at: Date; country: string | null };

export type UsagePlan = Esim & { bundles: Change['bundles']; events: readonly UsageEvent[] };

export type UsageEvent =
  | BundleEvent
  | { type: 'esim.activated' }
  | { type: 'esim.country_changed'; country: string; previousCountry: string };

/**
 * Applies records, oldest first, to an eSIM and its bundles, without the database. Returns the new state and the events in
 * order. A record with a country first counts as an attach.
 */
export function planUsage(
  before: Esim,
  bundles: Change['bundles'],
  records: readonly Usage[],
  now: Date,
): UsagePlan {
  let { status, country, country_observed_at } = before;
  let change: Change = { bundles, events: [] };
  const events: UsageEvent[] = [];
  const apply = (next: Change) => {
    events.push(...next.events);
    change = next.events.length > 0 ? { bundles: next.bundles, events: [] } : next;
  };
  for (const record of records) {
    if (canTransition('activate', status)) {
      status = 'active';
      events.push({ type: 'esim.activated' });
    }
    const promotes = status === 'active';
    if (record.country !== null) {
      if (promotes) apply(promote(expireDue(change, now, { promotes }), record.at));
      if (!country_observed_at || record.at > country_observed_at) {
        if (country !== null && country !== record.country) {
          const countries = { country: record.country, previousCountry: country };
          events.push({ type: 'esim.country_changed', ...countries });
        }
        country = record.country;
        country_observed_at = record.at;
      }
    }
    apply(countUsage(expireDue(change, now, { promotes }), record, { promotes }));
  }
  return { status, country, country_observed_at, bundles: change.bundles, events };
}

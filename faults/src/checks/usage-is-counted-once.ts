import type { Event } from '@simplane/contract';
import type { History } from '../history/history.ts';
import { writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

type Usage = { action: string; bytes: number; record_id?: string };

/**
 * A usage record is counted once, however often it is reported: what was used, on bundles and without one, adds up to the records.
 * Each reached threshold is logged once.
 */
export function usageIsCountedOnce(history: History): Violation[] {
  return [...sumsAreRight(history), ...thresholdsAreLogged(history)];
}

function sumsAreRight(history: History): Violation[] {
  const reported = new Map<string, Map<string, number>>();
  for (const { path, body, status, key } of writesOf(history)) {
    const [, iccid] = /^\/v1\/sandbox\/esims\/(\d+)\/simulate$/.exec(path) ?? [];
    const usage = body as Usage;
    if (!iccid || status !== 200 || usage.action !== 'use_data') continue;
    const records = reported.get(iccid) ?? new Map<string, number>();
    reported.set(iccid, records.set(usage.record_id ?? key, usage.bytes));
  }
  const bundles = history.end.flatMap((end) => end.bundles);
  const uncovered = new Map(
    history.end.flatMap(({ esims }) => esims.map((esim) => [esim.iccid, esim.uncovered_bytes])),
  );
  return [...reported].flatMap(([iccid, records]) => {
    const used = bundles
      .filter((one) => one.iccid === iccid)
      // An eSIM read from a process of the last release has no such field.
      .reduce((sum, one) => sum + one.used_bytes, uncovered.get(iccid) ?? 0);
    const expected = [...records.values()].reduce((sum, bytes) => sum + bytes, 0);
    return used === expected
      ? []
      : [
          {
            about: [iccid],
            what: `${expected} bytes were reported in ${records.size} records, but ${used} were counted`,
          },
        ];
  });
}

function thresholdsAreLogged({ end }: History): Violation[] {
  return end.flatMap(({ bundles, events }) => {
    const logged = events.filter(({ type }) => type === 'bundle.usage_threshold');
    return bundles.flatMap((bundle) => {
      const { data_bytes: size, used_bytes: used } = bundle;
      const reached = size === null ? [] : bundle.thresholds.filter((level) => used * 100 >= size * level);
      const levels = logged.filter(({ data }) => data['bundle_id'] === bundle.id).map(levelOf);
      const isRight = levels.length === reached.length && reached.every((level) => levels.includes(level));
      return isRight
        ? []
        : [
            {
              about: [bundle.id, bundle.iccid],
              what: `a bundle reached ${reached.join() || 'no threshold'}, but the log has ${levels.join() || 'none'}`,
            },
          ];
    });
  });
}

function levelOf({ data }: Event): number {
  return Number(data['threshold_percent']);
}

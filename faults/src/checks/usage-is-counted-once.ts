import type { Event, UsageRecord, UsageRecordBatch } from '@simplane/contract';
import type { History } from '../history/history.ts';
import { type Write, writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

type Usage = { action: string; bytes: number; record_id?: string };

/**
 * A usage record is counted once, however often it is reported: what was used, on bundles and without one, adds up to the records.
 * Each reached threshold is logged once.
 */
export function usageIsCountedOnce(history: History): Violation[] {
  const doubled = history.books.doubled.map((name) => ({ about: [name], what: `in two cells: ${name}` }));
  return [...sumsAreRight(history), ...thresholdsAreLogged(history), ...doubled];
}

type Reported = { iccid: string; id: string; bytes: number };

/** The records that this write was told are counted. */
function reportedBy({ path, body, status, key, text }: Write): Reported[] {
  if (status !== 200) return [];
  const [, iccid] = /^\/v1\/sandbox\/esims\/(\d+)\/simulate$/.exec(path) ?? [];
  if (iccid) {
    const { action, bytes, record_id: id = key } = body as Usage;
    return action === 'use_data' ? [{ iccid, id, bytes }] : [];
  }
  if (path !== '/v1/usage_records') return [];
  const { records } = body as { records: UsageRecord[] };
  const rejected = new Set((JSON.parse(text) as UsageRecordBatch).rejections.map(({ index }) => index));
  return records
    .filter((_, index) => !rejected.has(index))
    .map((record) => ({ iccid: record.iccid, id: record.record_id, bytes: record.bytes }));
}

function sumsAreRight(history: History): Violation[] {
  const reported = new Map<string, Map<string, number>>();
  for (const { iccid, id, bytes } of writesOf(history).flatMap(reportedBy)) {
    const records = reported.get(iccid) ?? new Map<string, number>();
    reported.set(iccid, records.set(id, bytes));
  }
  const bundles = history.end.flatMap((end) => end.bundles);
  const uncovered = new Map(
    history.end.flatMap(({ esims }) => esims.map((esim) => [esim.iccid, esim.uncovered_bytes])),
  );
  return [...reported].flatMap(([iccid, records]) => {
    const used = bundles
      .filter((one) => one.iccid === iccid)
      // An eSIM read from a process of the last release has no such field.
      .reduce(
        (sum, one) => sum + one.used_bytes,
        (uncovered.get(iccid) ?? 0) + (history.books.late.get(iccid) ?? 0),
      );
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

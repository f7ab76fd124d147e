import type { Database } from '../../../platform/db/database.ts';
import { addAll, addTo, bucketOf } from '../../../platform/telemetry/histogram.ts';
import { addHours, type HourCounts } from './sql.ts';

type Attempt = {
  accountUuid: string;
  endpointUuid: string;
  at: Date;
  durationMs: number;
  isSuccess: boolean;
};

const hourMs = 3_600_000;
const batchSize = 500;

/**
 * Counts attempts in memory and adds them to the database in batches, so an attempt costs under a microsecond and no statement. A
 * process that is killed loses what it counted since the last flush.
 */
export function createStatsCollector(db: Database, { maxEntries = 20_000 } = {}) {
  let entries = new Map<string, HourCounts>();
  let flushing: Promise<void> | null = null;

  /** Beyond the limit new entries are dropped: only while the database does not take any. */
  function entryOf(accountUuid: string, endpointUuid: string, hour: number): HourCounts | undefined {
    const key = `${endpointUuid}${hour}`;
    const known = entries.get(key);
    if (known || entries.size >= maxEntries) return known;
    const entry = { accountUuid, endpointUuid, hour: new Date(hour), succeeded: 0, failed: 0, durations: [] };
    entries.set(key, entry);
    return entry;
  }

  /** After an error it is unknown whether the batch was written. It is kept: a rare double count beats a gap in every outage. */
  function keep(counts: HourCounts): void {
    const entry = entryOf(counts.accountUuid, counts.endpointUuid, counts.hour.getTime());
    if (!entry) return;
    entry.succeeded += counts.succeeded;
    entry.failed += counts.failed;
    addAll(entry.durations, counts.durations);
  }

  async function write(): Promise<void> {
    const counted = [...entries.values()];
    entries = new Map();
    while (counted.length > 0) {
      const batch = counted.splice(0, batchSize);
      try {
        await addHours(db, batch);
      } catch (error) {
        for (const counts of [...batch, ...counted]) keep(counts);
        throw error;
      }
    }
  }

  function flush(): Promise<void> {
    flushing ??= write().finally(() => {
      flushing = null;
    });
    return flushing;
  }

  return {
    record({ accountUuid, endpointUuid, at, durationMs, isSuccess }: Attempt): void {
      const atMs = at.getTime();
      const entry = entryOf(accountUuid, endpointUuid, atMs - (atMs % hourMs));
      if (!entry) return;
      if (isSuccess) entry.succeeded += 1;
      else entry.failed += 1;
      addTo(entry.durations, bucketOf(durationMs), 1);
      // Many endpoints: no need to wait for the timer. An error is reported by the timer's next flush.
      if (entries.size >= maxEntries / 2 && !flushing) flush().catch(() => {});
    },
    /** Writes what was counted since. Never runs twice at once. */
    flush,
  };
}

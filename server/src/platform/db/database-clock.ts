import type { Clock } from '../clock.ts';
import { single } from './statement.ts';

export type DatabaseClock = Clock & {
  /** Corrects the clock by a statement that returns the database's time, in milliseconds since 1970. */
  measure(ask: () => Promise<number>): Promise<void>;
};

/**
 * PostgreSQL's time, counted on by the monotonic clock between measurements. The wall clock of a machine may be wrong by days;
 * what it decided about ages would end or delete too early. Unusable before the first measurement.
 */
export function createDatabaseClock(monotonicMs: () => number = () => performance.now()): DatabaseClock {
  let offsetMs: number | null = null;

  return {
    nowMs() {
      if (offsetMs === null) throw new Error('the database’s time has not been measured yet');
      return Math.floor(monotonicMs() + offsetMs);
    },
    async measure(ask) {
      const sentAtMs = monotonicMs();
      const databaseMs = await ask();
      // The time was read between sending and now, so a slow answer says little and changes little. Starts at the lower
      // bound: what is due now by this clock is due in PostgreSQL too.
      const lowestMs = databaseMs - monotonicMs();
      const highestMs = databaseMs - sentAtMs;
      offsetMs = Math.min(Math.max(offsetMs ?? lowestMs, lowestMs), highestMs);
    },
  };
}

/** The current time as an expression, for statements whose answer `measure` uses. */
export const databaseMs = `extract(epoch from clock_timestamp())::float8 * 1000`;

export const readDatabaseMs = single<number>('database_time')`select ${databaseMs} as now_ms`;

import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { Signals } from '../db/signals.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import type { Observation } from '../network/port.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { observe } from './observe.ts';

type Deps = {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  signals: Pick<Signals, 'announce'>;
  metrics: Pick<Metrics, 'reportCount'>;
};

/** Takes in what a live network reports: stored when it resolves. False when the eSIM is not ours; such are only counted. */
export function createReportTaker(deps: Deps): (observation: Observation) => Promise<boolean> {
  const { db, signals, metrics } = deps;
  return async (observation) => {
    const esim = await db.transaction((tx) => observe(tx, observation, deps));
    metrics.reportCount.inc({ outcome: esim ? 'taken' : 'unknown' });
    if (esim) signals.announce('deliveries', esim.account_id);
    return esim !== null;
  };
}

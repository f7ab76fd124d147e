import type { CoreMode } from '../../network/core-mode.ts';
import type { Observation } from '../../network/port.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Signals } from '../../platform/db/signals.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';
import { observe } from './observe.ts';

type Deps = {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  core: CoreMode;
  signals: Pick<Signals, 'announce'>;
  metrics: Pick<Metrics, 'reportCount'>;
};

/** Stores observations of a live network. Resolves to false if the eSIM is not ours; those are only counted in a metric. */
export function createObservationHandler(deps: Deps): (observation: Observation) => Promise<boolean> {
  const { db, signals, metrics } = deps;
  return async (observation) => {
    const esim = await db.transaction((tx) => observe(tx, observation, deps));
    metrics.reportCount.inc({ outcome: esim ? 'taken' : 'unknown' });
    if (esim) signals.announce('deliveries', esim.account_id);
    return esim !== null;
  };
}

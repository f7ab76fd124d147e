import { beingMoved } from '../../accounts/moves/require-here.ts';
import type { CoreMode } from '../../network/core-mode.ts';
import type { Observation } from '../../network/port.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Cells } from '../../platform/cells/ask-cells.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Signals } from '../../platform/db/signals.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';
import type { NotLocked } from '../esims/lock.ts';
import { observe } from './observe.ts';
import { passOnProfile } from './pass-on.ts';

type Deps = {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  core: CoreMode;
  cells: Pick<Cells, 'others' | 'ask'>;
  signals: Pick<Signals, 'announce'>;
  metrics: Pick<Metrics, 'reportCount'>;
};

/**
 * Stores observations of a live network, here or in the cell that has the eSIM. Resolves to false if nobody has it; those are only counted
 * in a metric. Rejects if it is not known who has it: the network then sends it again.
 */
export function createObservationHandler(deps: Deps): (observation: Observation) => Promise<boolean> {
  const { db, signals, metrics } = deps;
  return async (observation) => {
    const seen = await db.transaction((tx) => observe(tx, observation, deps));
    if (typeof seen === 'string') {
      const isTaken = await passOn(deps, observation, seen);
      metrics.reportCount.inc({ outcome: isTaken ? 'passed_on' : 'unknown' });
      return isTaken;
    }
    metrics.reportCount.inc({ outcome: 'taken' });
    signals.announce('deliveries', seen.account_id);
    return true;
  };
}

/** After the transaction: another cell may take its time. */
async function passOn(deps: Deps, observation: Observation, here: NotLocked): Promise<boolean> {
  if (here === 'leaving') throw beingMoved('The eSIM');
  // Attaches come with usage records.
  const there = observation.kind === 'profile' ? await passOnProfile(deps, observation) : 'esim_unknown';
  if (there === 'accepted') return true;
  if (here === 'elsewhere') throw beingMoved('The eSIM');
  if (there === 'esim_unknown') return false;
  throw new AppError('unavailable', 'Another cell may have the eSIM, and has not taken the notification.', {
    headers: { 'Retry-After': '1' },
  });
}

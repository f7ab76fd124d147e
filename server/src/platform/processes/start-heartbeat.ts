import { hostname } from 'node:os';
import type { Database } from '../db/database.ts';
import type { DatabaseClock } from '../db/database-clock.ts';
import { uuidText } from '../ids/uuid.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { clip } from '../telemetry/clip.ts';
import { every } from '../worker/every.ts';
import { stateOf } from './clock-skew.ts';
import type { ProcessReport } from './report.ts';
import { type Heartbeat, removeProcess, storeHeartbeat } from './sql.ts';

export type { Heartbeat } from './sql.ts';

type Options = Pick<Heartbeat, 'role' | 'version'> & {
  db: Database;
  /** Measured with every heartbeat; then `onMeasured` is called. */
  clock: DatabaseClock;
  onMeasured?(): void;
  /** Called with whether any other process runs. */
  onAlone?(isAlone: boolean): void;
  newUuid: NewUuid;
  /** What only this process knows. Must be bounded: it is written with every heartbeat. */
  report(): ProcessReport;
  onError(error: unknown): void;
  beatMs?: number;
};

const defaultBeatMs = 5_000;
/** How soon others see that a network went down or works again, and this process that its clock was set. */
const checkMs = 1_000;

/** Four heartbeats may be late or lost. */
const missedBeats = 5;
/** A process that has not reported for this long is gone. */
export const goneAfterMs = missedBeats * defaultBeatMs;

type RunningHeartbeat = {
  /** Whether this process could not store a heartbeat for so long that others take it for gone. */
  isLate(): boolean;
  stop(): Promise<void>;
};

/** Lets the operator see this process, from now until `stop`. */
export async function startHeartbeat(options: Options): Promise<RunningHeartbeat> {
  const { db, clock, onMeasured, onAlone, newUuid, role, version, report, onError } = options;
  const { beatMs = defaultBeatMs } = options;
  const uuid = uuidText(newUuid());
  const host = clip(hostname(), 255);
  let beatAtMs = 0;
  let storedAtMs = performance.now();
  let reportedState = '';

  async function beat(): Promise<void> {
    const current = report();
    const uptimeMs = Math.round(performance.now());
    beatAtMs = uptimeMs;
    reportedState = stateIn(current);
    const { pid } = process;
    const heartbeat = { uuid, role, version, host, pid, uptimeMs, report: current };
    await clock.measure(async () => {
      const stored = await storeHeartbeat(db, heartbeat, goneAfterMs);
      if (!stored) throw new Error('a heartbeat was not stored');
      onAlone?.(stored.is_alone);
      return stored.now_ms;
    });
    storedAtMs = performance.now();
    onMeasured?.();
  }

  async function beatIfDue(): Promise<void> {
    if (performance.now() - beatAtMs >= beatMs || stateIn(report()) !== reportedState) await beat();
  }

  await beat().catch(onError);
  const beating = every(Math.min(checkMs, beatMs), beatIfDue, onError);
  return {
    isLate: () => performance.now() - storedAtMs > missedBeats * beatMs,
    async stop() {
      await beating.stop();
      // Not worth a failed shutdown: the row is removed anyway when it is old.
      await removeProcess(db, uuid).catch(onError);
    },
  };
}

/** A change of this sends a heartbeat at once. */
function stateIn({ networks, clock_skew_ms: skewMs }: ProcessReport): string {
  return JSON.stringify([stateOf(skewMs), ...networks.map(({ reachable, paused }) => [reachable, paused])]);
}

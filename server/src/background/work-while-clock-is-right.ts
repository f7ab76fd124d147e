import type { Logger } from 'pino';
import type { ClockSkew, ClockState } from '../platform/processes/clock-skew.ts';
import type { Metrics } from '../platform/telemetry/metrics.ts';
import type { Work } from './start-work.ts';

type Options = {
  skew: ClockSkew;
  /** Null if the process has no work in the background. */
  start: (() => Work) | null;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: Pick<Metrics, 'clockSkew'>;
  stopTimeoutMs: number;
  onError(error: unknown): void;
};

/** Works, except while this machine's clock is wrong: then other processes get the work. `check` follows each measurement. */
export function workWhileClockIsRight(options: Options): Work & { check(): void } {
  const { skew, start, log, metrics, stopTimeoutMs, onError } = options;
  let work: Work | null = null;
  let state: ClockState = 'right';
  let isStopping = false;
  let turning: Promise<void> = Promise.resolve();

  async function turn(timeoutMs: number): Promise<void> {
    const mayWork = state !== 'wrong' && !isStopping;
    if (mayWork) {
      work ??= start?.() ?? null;
      return;
    }
    const ended = work;
    work = null;
    await ended?.stop(timeoutMs);
  }

  function check(): void {
    const before = state;
    state = skew.judge();
    const seconds = skew.currentMs() / 1000;
    metrics.clockSkew.set(seconds);
    if (state !== before) report(log, state, { clock_skew_seconds: seconds }, skew.trouble());
    turning = turning.then(() => turn(stopTimeoutMs)).catch(onError);
  }

  check();
  return {
    check,
    isPaused: (kind) => work?.isPaused(kind) ?? false,
    async stop(timeoutMs) {
      isStopping = true;
      turning = turning.then(() => turn(timeoutMs));
      await turning;
    },
  };
}

function report(log: Options['log'], state: ClockState, details: object, trouble: string | null): void {
  if (state === 'wrong') log.error(details, trouble ?? '');
  else if (state === 'off')
    log.warn(details, 'the clocks of this machine and PostgreSQL differ; run NTP on both');
  else log.info(details, 'the clocks of this machine and PostgreSQL agree again');
}

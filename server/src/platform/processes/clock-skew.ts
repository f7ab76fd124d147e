import type { Clock } from '../clock.ts';

/** `off`: worth a warning. `wrong`: one of the two clocks cannot be relied on. */
export type ClockState = 'right' | 'off' | 'wrong';

// With NTP, machines differ by milliseconds.
const offAboveMs = 2_000;
const wrongAboveMs = 30_000;

export type ClockSkew = {
  /** Judges by the clocks as they are now. Only right after a measurement: a machine that slept has an old one. */
  judge(): ClockState;
  /** How far the machine is ahead of PostgreSQL now, not judged yet. */
  currentMs(): number;
  /** Why this process does no work; null if its clock was not judged as wrong. */
  trouble(): string | null;
};

/** Compares the machine's clock with PostgreSQL's. */
export function createClockSkew(clock: Clock, machineMs: () => number = Date.now): ClockSkew {
  const currentMs = () => machineMs() - clock.nowMs();
  let judgedMs = currentMs();

  return {
    judge() {
      judgedMs = currentMs();
      return stateOf(judgedMs);
    },
    currentMs,
    trouble() {
      if (stateOf(judgedMs) !== 'wrong') return null;
      const where = judgedMs > 0 ? 'ahead of' : 'behind';
      return `The clock of this machine is ${Math.round(Math.abs(judgedMs) / 1000)} s ${where} PostgreSQL’s, so this process does no background work: no orders, no webhooks, no expiry. It goes on when the clocks agree; run NTP on both machines.`;
    },
  };
}

export function stateOf(skewMs: number): ClockState {
  const apartMs = Math.abs(skewMs);
  return apartMs > wrongAboveMs ? 'wrong' : apartMs > offAboveMs ? 'off' : 'right';
}

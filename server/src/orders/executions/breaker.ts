import type { Reply } from '../../network/port.ts';

type Options = {
  /** Pauses after this many errors in a row of a gateway, or without a connection; 0 never pauses. */
  afterFailures: number;
  /** The first pause. Each failed probe doubles it, up to six times the first. */
  pauseMs: number;
  nowMs?: () => number;
  /** `pausedMs` is how long the pause that begins is; null when the network works again. */
  onChange(pausedMs: number | null): void;
};

/** The permission for one call. `end` takes its reply; `release` gives it back if there was none. */
type Permit = { end(reply: Reply<unknown>): void; release(): void };

/** The reply of a call that was not made, because the network is paused. */
export const notCalled: Extract<Reply<never>, { kind: 'failed' }> = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'The network failed repeatedly, so calls to it wait.' },
  hadNoEffect: true,
  isDown: true,
};

export type Breaker = ReturnType<typeof createBreaker>;

const longestPauseFactor = 6;
// A connection that cannot be established costs the network nothing, so orders go on soon after it works again.
const unreachedPauseMs = 2_000;
// If the execution claimed for the probe makes no call, another one is claimed after this time.
const probeClaimEveryMs = 1_000;

/**
 * Pauses the calls to a network whose gateway reports again and again that the network is down, or that cannot be reached. After the pause one call goes
 * through as a probe: its reply ends the pause or begins a longer one. Each process has its own, so that no call needs a
 * statement; a process that does not know yet makes a few failing calls.
 */
export function createBreaker({
  afterFailures,
  pauseMs,
  nowMs = () => performance.now(),
  onChange,
}: Options) {
  let failures = 0;
  let pauses = 0;
  let pausedUntilMs: number | null = null;
  let isProbing = false;
  let nextProbeClaimMs = 0;

  function pause(reply: Reply<unknown>): void {
    const isUnreached = reply.kind === 'failed' && reply.isUnreached === true;
    const lengthMs = isUnreached
      ? Math.min(pauseMs, unreachedPauseMs)
      : pauseMs * Math.min(2 ** pauses, longestPauseFactor);
    if (!isUnreached) pauses += 1;
    pausedUntilMs = nowMs() + lengthMs;
    onChange(lengthMs);
  }

  function resume(): void {
    failures = 0;
    pauses = 0;
    pausedUntilMs = null;
    onChange(null);
  }

  const isLocal = (reply: Reply<unknown>) => reply.kind !== 'failed' && reply.isLocal === true;

  const ordinary: Permit = {
    end(reply) {
      if (pausedUntilMs !== null) return; // of a call made before the pause
      if (isLocal(reply)) return;
      if (reply.kind !== 'done' && reply.isDown) failures += 1;
      else if (reply.kind !== 'failed') failures = 0; // a lost answer shows neither
      if (afterFailures > 0 && failures >= afterFailures) pause(reply);
    },
    release() {},
  };

  const probe: Permit = {
    end(reply) {
      if (isLocal(reply)) {
        nextProbeClaimMs = 0; // this was no probe, so another one need not wait
        return;
      }
      const works = reply.kind === 'done' || (reply.kind === 'refused' && !reply.isDown);
      if (works) resume();
      else pause(reply);
    },
    release() {
      isProbing = false;
    },
  };

  return {
    isPaused: () => pausedUntilMs !== null,

    /** How long an execution should wait that was not permitted to call. */
    waitMs: () => Math.max((pausedUntilMs ?? 0) - nowMs(), probeClaimEveryMs),

    /** Whether an execution may be claimed for the probe. */
    mayClaimProbe(): boolean {
      const now = nowMs();
      if (pausedUntilMs === null || now < pausedUntilMs || isProbing || now < nextProbeClaimMs) return false;
      nextProbeClaimMs = now + probeClaimEveryMs;
      return true;
    },

    /** Null while the network is paused. */
    permit(): Permit | null {
      if (pausedUntilMs === null) return ordinary;
      if (isProbing || nowMs() < pausedUntilMs) return null;
      isProbing = true;
      return probe;
    },
  };
}

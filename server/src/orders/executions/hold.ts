import type { Refusal, Reply } from '../../network/port.ts';
import { createGroupCommit, perDatabase } from '../../platform/db/group-commit.ts';
import { withDeadline } from '../../platform/worker/deadline.ts';
import { type Breaker, notCalled } from './breaker.ts';
import { finish } from './finish.ts';
import { lastErrorOf, notedError, type WithLastError } from './last-error.ts';
import { callId, type Deps, type HeldExecution, sentFlag, wasClaimedBefore } from './runner.ts';
import { type ClaimedExecution, type RecoveryPoint, release, saveProgressRows } from './sql/queue.ts';

/** Another worker has claimed the execution: this one must make no more network calls for it. */
export class ClaimLost extends Error {
  override name = 'ClaimLost';
}

/** The operations of a claim's holder. */
export function hold(
  deps: Deps,
  breaker: Breaker | null,
  claimed: ClaimedExecution,
  stopping: AbortSignal,
): HeldExecution {
  const { db, clock, leaseMs, networkTimeoutMs, network } = deps;
  let leasedAtMs = performance.now();
  const noteProgress = (progress: object) => noteUnsaved(claimed, progress);
  const noteError = (step: string, reason: Refusal) =>
    noteProgress({ last_error: lastErrorOf(step, reason, clock.nowMs()) } satisfies WithLastError);
  const save = (progress: object) => {
    leasedAtMs = performance.now();
    Object.assign(claimed.progress, progress);
    return progressSaverOf(db)({
      execution: claimed,
      progress: { ...takeUnsaved(claimed), ...progress },
      leaseMs,
    });
  };

  /** Stores that a call is about to be made. Returns whether it may have been made before. */
  async function setSent(flag: string): Promise<boolean> {
    const isRepeated = claimed.progress[flag] === true;
    await setFlag(flag, true); // also for a repetition: it checks the claim and renews the lease
    return isRepeated;
  }

  async function setFlag(flag: string, value: boolean) {
    claimed.progress[flag] = value;
    if (!(await save({ [flag]: value }))) throw new ClaimLost();
  }

  return {
    async call(step, make) {
      const flag = sentFlag(step);
      const { forgetsCalls } = network;
      const permit = breaker?.permit();
      if (permit === null) {
        // Shows that an order which waits was not sent, so that it can be canceled.
        if (forgetsCalls && claimed.progress[flag] === undefined) noteProgress({ [flag]: false });
        return notCalled;
      }
      try {
        const isRepeated = forgetsCalls ? await setSent(flag) : wasClaimedBefore(claimed);
        claimed.progress[flag] = true;
        const call = { id: callId(claimed, step), attempt: claimed.attempts, isRepeated };
        const reply = await withTimeout(networkTimeoutMs, stopping, (signal) => make({ signal, ...call }));
        permit?.end(reply);
        if (reply.kind !== 'done') noteError(step, reply.reason);
        if (forgetsCalls && !isRepeated && surelyHadNoEffect(reply)) await setFlag(flag, false);
        return reply;
      } finally {
        permit?.release();
      }
    },
    noteProgress,
    save,
    async checkpoint(progress) {
      const lastsForACall = performance.now() - leasedAtMs + networkTimeoutMs < leaseMs;
      if (network.forgetsCalls || !lastsForACall) return save(progress);
      noteProgress(progress);
      return true;
    },
    async waitForCore(tx) {
      const wait = { delayMs: coreFallbackMs, waitingFor: 'core', progress: takeUnsaved(claimed) } as const;
      // The first attempt counts, and looking again does not.
      const isOurs = await release(tx, claimed, {
        ...wait,
        ...(claimed.attempts > 1 && { isUncounted: true }),
      });
      if (!isOurs) throw new ClaimLost();
    },
    async finish(tx, error) {
      const at = new Date(clock.nowMs());
      const isOurs = await finish(tx, deps, claimed, { error, at, noted: notedError(claimed.progress) });
      if (isOurs) deps.onOutcome(claimed.type, error ? 'failed' : 'succeeded');
      return isOurs;
    },
    ...claimed, // last: a spread before other fields takes ten times as long, and this runs for every order
  };
}

// Whoever settles the change at the core makes it due. This is for a change that needs no answer any more.
const coreFallbackMs = 300_000;

/** Progress that was noted but not stored yet. */
const unsaved = new WeakMap<ClaimedExecution, object>();

function noteUnsaved(claimed: ClaimedExecution, progress: object): void {
  Object.assign(claimed.progress, progress);
  unsaved.set(claimed, { ...unsaved.get(claimed), ...progress });
}

export function takeUnsaved(claimed: ClaimedExecution): object {
  const progress = unsaved.get(claimed) ?? {};
  unsaved.delete(claimed);
  return progress;
}

/** Concurrent recovery points share one statement and one commit. */
const progressSaverOf = perDatabase((db) =>
  createGroupCommit({ write: (points: RecoveryPoint[]) => saveProgressRows(db, points) }),
);

/**
 * A driver should end its call on the signal. If it does not, the execution continues without it; the call id makes a late
 * success harmless.
 */
export function withTimeout<Result>(
  ms: number,
  stopping: AbortSignal,
  make: (signal: AbortSignal) => Promise<Reply<Result>>,
): Promise<Reply<Result>> {
  return new Promise((resolve, reject) => {
    const onEnd = () => setTimeout(resolve, graceMs, noAnswer);
    withDeadline({ ms, stopping, onEnd }, make).then(resolve, reject);
  });
}

// A driver that honors the signal answers within a tick, and its answer is more precise than `noAnswer`.
const graceMs = 100;

const noAnswer: Reply<never> = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'The network did not answer in time.' },
};

function surelyHadNoEffect(reply: Reply<unknown>): boolean {
  if (reply.kind === 'failed') return reply.hadNoEffect === true;
  if (reply.kind !== 'refused' || reply.reservedIccid !== undefined) return false;
  return reply.reason.code !== 'outcome_unknown';
}

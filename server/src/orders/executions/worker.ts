import { type ExecutionErrorCode, type ExecutionType, idPrefixes } from '@simplane/contract';
import type { Call, Network, Refusal, Reply } from '../../network/port.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { createGroupCommit, perDatabase } from '../../platform/db/group-commit.ts';
import type { Signals } from '../../platform/db/signals.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import type { Keyring } from '../../platform/secrets/keyring.ts';
import { onAbort, withDeadline } from '../../platform/worker/deadline.ts';
import { type RunResult, startWorkQueue, type WorkQueue } from '../../platform/worker/work-queue.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { createPausedClaim } from './claim-while-paused.ts';
import { createClaimWindow } from './claim-window.ts';
import { internalCause, lastErrorOf, notedError, type WithLastError } from './last-error.ts';
import type { ExecutionError } from './sql/executions.ts';
import {
  type ClaimedExecution,
  claimExecutionRows,
  finish,
  pauseExecution,
  postpone,
  type RecoveryPoint,
  releaseClaim,
  saveProgressRows,
} from './sql/queue.ts';

export type Deps = {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  signals: Pick<Signals, 'announce'>;
  network: Network;
  keyring: Keyring;
  leaseMs: number;
  /** Timeout of one call to the network. */
  networkTimeoutMs: number;
  /** Called when an execution ends, or is postponed because of the network. */
  onOutcome(type: ExecutionType, outcome: 'succeeded' | 'failed' | 'postponed'): void;
  /** Called when an order failed while the network may still have a profile for it, which the operator must look up. */
  onStranded(details: object): void;
  /** Delays before the second, third, … attempt. A failure after the last delay is final. */
  retryScheduleMs: number[];
};

/**
 * `done`: the runner ended the execution, or another worker has claimed it. `failed`: the network failed; the execution is
 * retried later, and `fail` is called when no attempt is left.
 */
export type RunOutcome = { kind: 'done' } | Extract<Reply<never>, { kind: 'failed' }>;

/** ICCIDs that cost nothing: a claim takes as many as it may need, and returns the unused ones. */
export type IccidStock = {
  take(db: Queryable, count: number): Promise<string[]>;
  giveBack(iccids: string[]): void;
};

export type Runner = {
  /** Its calls go to the system that is paused while its gateway reports it as down. */
  isPausable?: true;
  /** ICCIDs for the claim to allot to new orders; null if they get theirs when they are prepared, or from the network. */
  stock?(deps: Deps): IccidStock | null;
  /** Prepares a whole batch in one statement before any is run. Returns the executions this worker still holds. */
  prepare?(deps: Deps, executions: ClaimedExecution[]): Promise<ClaimedExecution[]>;
  run(deps: Deps, execution: HeldExecution): Promise<RunOutcome>;
  fail(deps: Deps, execution: HeldExecution, error: ExecutionError): Promise<void>;
};

/** A claimed execution and the operations of its holder. Every write fails once another worker has claimed it. */
export type HeldExecution = ClaimedExecution & {
  /** Calls the network with a timeout. `step` determines the call id. */
  call<Result>(step: string, make: (call: Call) => Promise<Reply<Result>>): Promise<Reply<Result>>;
  /** Adds to the progress. The attempt's next write stores it; it is lost if the process dies first. */
  noteProgress(progress: object): void;
  /** Stores progress and renews the lease. False if the claim was lost. */
  save(progress: object): Promise<boolean>;
  /**
   * A recovery point between two steps. False if the claim was lost. Stored only if the network forgets calls, or if the lease
   * could end before the next call does; otherwise a crash repeats the steps with the same call ids.
   */
  checkpoint(progress: object): Promise<boolean>;
  /** Ends the execution in the caller's transaction. False if the claim was lost: then the transaction must write nothing. */
  finish(tx: Queryable, error: ExecutionError | null): Promise<boolean>;
};

export type { ExecutionError } from './sql/executions.ts';
export type { ClaimedExecution, Fenced } from './sql/queue.ts';
export { finish, releaseOrphanedExecutions, takeUnsent } from './sql/queue.ts';

type Options = Deps & {
  runners: Record<ExecutionType, Runner>;
  concurrency: number;
  pollMs: number;
  pause: Pick<Parameters<typeof createBreaker>[0], 'afterFailures' | 'pauseMs'>;
  /** Called when the network is paused, for so long, or works again (null). */
  onPause(pausedMs: number | null): void;
  onError(error: unknown, about?: object): void;
};

/** Runs executions. The rows are the queue; any process may claim any of them. */
export function startExecutionWorker(options: Options): WorkQueue {
  const { db, clock, runners, leaseMs, concurrency, pollMs, onError } = options;
  const claimInWindow = createClaimWindow(clock);
  const stock = runners['esim.provision'].stock?.(options) ?? null;
  const breaker = createBreaker({ ...options.pause, onChange: options.onPause });
  const types = Object.keys(runners) as ExecutionType[];
  const paused = types.filter((type) => runners[type].isPausable);
  const others = types.filter((type) => !runners[type].isPausable);
  const claimWhilePaused = createPausedClaim({ db, clock, leaseMs, paused, others }, breaker);
  return startWorkQueue({
    concurrency,
    pollMs,
    onError,
    async claim(count) {
      if (breaker.isPaused()) return prepareAll(options, await claimWhilePaused(count));
      const iccids = (await stock?.take(db, count)) ?? [];
      const { executions } = await claimInWindow((since) =>
        claimExecutionRows(db, { count, leaseMs, since, iccids }),
      );
      const allotted = new Set(executions.map(({ iccid }) => iccid));
      stock?.giveBack(iccids.filter((iccid) => !allotted.has(iccid)));
      return prepareAll(options, executions);
    },
    run: (execution, stopping) => runOne(options, breaker, execution, stopping).catch(ignoreClaimLost),
  });
}

async function prepareAll(options: Options, executions: ClaimedExecution[]): Promise<ClaimedExecution[]> {
  const { runners } = options;
  const ready = await Promise.all(
    Object.entries(runners).map(([type, runner]) =>
      prepare(
        options,
        runner,
        executions.filter((execution) => execution.type === type),
      ),
    ),
  );
  return ready.flat();
}

/** If a batch fails, its executions are prepared one by one, so that one bad row does not block the others. */
async function prepare(
  options: Options,
  runner: Runner,
  batch: ClaimedExecution[],
): Promise<ClaimedExecution[]> {
  if (!runner.prepare || batch.length === 0) return batch;
  try {
    return await runner.prepare(options, batch);
  } catch (error) {
    if (batch.length > 1)
      return (await Promise.all(batch.map((one) => prepare(options, runner, [one])))).flat();
    const [execution] = batch as [ClaimedExecution];
    await postponeAfterError(options, execution, error);
    return [];
  }
}

async function runOne(
  options: Options,
  breaker: Breaker,
  claimed: ClaimedExecution,
  stopping: AbortSignal,
): Promise<RunResult> {
  const runner = options.runners[claimed.type];
  const execution = hold(options, runner.isPausable ? breaker : null, claimed, stopping);
  if (claimed.attempts > maxAttempts(options)) {
    return failOrWait(options, breaker, { claimed, execution }, internalError(claimed.attempts));
  }
  let outcome: RunOutcome;
  try {
    outcome = await runner.run(options, execution);
  } catch (error) {
    if (error instanceof ClaimLost) throw error;
    return postponeAfterError(options, claimed, error);
  }
  options.signals.announce('deliveries', claimed.account_id);
  if (outcome.kind === 'done') return undefined;
  if (stopping.aborted) {
    await releaseClaim(options.db, claimed, takeUnsaved(claimed)); // the shutdown aborted the call, so the attempt does not count
    return undefined;
  }
  if (outcome.reason === notCalled.reason || (outcome.isDown && breaker.isPaused())) {
    return waitForNetwork(options, breaker, claimed);
  }
  // Only network failures use up the retry schedule; our own crashes and restarts do not.
  const failures = Number(claimed.progress['failures'] ?? 0) + 1;
  const delayMs = options.retryScheduleMs[failures - 1];
  if (delayMs === undefined) {
    // The last attempt is made again after the pause: now nothing could be rolled back.
    if (runner.isPausable && breaker.isPaused()) return waitForNetwork(options, breaker, claimed);
    return failOrWait(options, breaker, { claimed, execution }, attemptsExhausted(outcome.reason, failures));
  }
  const progress = { ...takeUnsaved(claimed), failures };
  await postpone(options.db, claimed, { delayMs, waitingFor: 'network', progress });
  options.onOutcome(claimed.type, 'postponed');
  return { againInMs: delayMs };
}

// Due a little before the pause ends, so that an execution that has begun can be chosen for the probe.
const dueEarlyMs = 500;

async function waitForNetwork(
  { db }: Options,
  breaker: Breaker,
  execution: ClaimedExecution,
): Promise<RunResult> {
  const delayMs = breaker.waitMs();
  await pauseExecution(db, execution, delayMs - dueEarlyMs, {
    ...takeUnsaved(execution),
    waiting_for: 'network',
  });
  return { againInMs: delayMs };
}

/** Fails the execution, unless that takes a call and the network is paused: it would leave a profile behind. */
async function failOrWait(
  options: Options,
  breaker: Breaker,
  { claimed, execution }: { claimed: ClaimedExecution; execution: HeldExecution },
  error: ExecutionError,
): Promise<RunResult> {
  const call: HeldExecution['call'] = async (step, make) => {
    const reply = await execution.call(step, make);
    if (reply === notCalled) throw new NetworkPaused();
    return reply;
  };
  try {
    await options.runners[execution.type].fail(options, { ...execution, call }, error);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof NetworkPaused)) throw thrown;
    return waitForNetwork(options, breaker, claimed);
  }
}

/** After an error of ours: retried later, up to `maxAttempts`. */
async function postponeAfterError(
  options: Options,
  execution: ClaimedExecution,
  error: unknown,
): Promise<RunResult> {
  const { id, type, attempts } = execution;
  options.onError(error, { execution_id: idOfUuid(idPrefixes.execution, id), type, attempts });
  const delayMs = Math.min(options.leaseMs, 1_000 * 2 ** Math.min(attempts, 10));
  const thrown: WithLastError = { last_error: internalCause(error, options.clock.nowMs()) };
  await postpone(options.db, execution, {
    delayMs,
    waitingFor: 'internal',
    progress: { ...takeUnsaved(execution), ...thrown },
  });
  return { againInMs: delayMs };
}

/** Also bounds an order that crashes its worker every time. */
function maxAttempts({ retryScheduleMs }: Options): number {
  return retryScheduleMs.length + 20;
}

function internalError(attempts: number): ExecutionError {
  return {
    code: 'internal',
    message: `The execution failed ${attempts} times because of an internal error. Send the request again, and report the execution's id to the operator.`,
    retryable: true,
  };
}

function hold(
  options: Options,
  breaker: Breaker | null,
  claimed: ClaimedExecution,
  stopping: AbortSignal,
): HeldExecution {
  const { db, clock, leaseMs, networkTimeoutMs, network } = options;
  let leasedAtMs = performance.now();
  const noteProgress = (progress: object) => {
    Object.assign(claimed.progress, progress);
    unsaved.set(claimed, { ...unsaved.get(claimed), ...progress });
  };
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
        if (reply.kind !== 'done')
          noteProgress({
            last_error: lastErrorOf(step, reply.reason, clock.nowMs()),
          } satisfies WithLastError);
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
    async finish(tx, error) {
      const at = new Date(clock.nowMs());
      const isOurs = await finish(tx, claimed, { error, at, noted: notedError(claimed.progress) });
      if (isOurs) options.onOutcome(claimed.type, error ? 'failed' : 'succeeded');
      return isOurs;
    },
    ...claimed, // last: a spread before other fields takes ten times as long, and this runs for every order
  };
}

/** Progress that was noted but not stored yet. */
const unsaved = new WeakMap<ClaimedExecution, object>();

function takeUnsaved(claimed: ClaimedExecution): object {
  const progress = unsaved.get(claimed) ?? {};
  unsaved.delete(claimed);
  return progress;
}

/**
 * A driver should end its call on the signal. If it does not, the execution continues without it; the call id makes a late
 * success harmless.
 */
export function withTimeout<Result>(
  ms: number,
  stopping: AbortSignal,
  make: (signal: AbortSignal) => Promise<Reply<Result>>,
): Promise<Reply<Result>> {
  return withDeadline(
    ms,
    stopping,
    (signal) =>
      new Promise((resolve, reject) => {
        onAbort(signal, () => setTimeout(resolve, graceMs, noAnswer));
        make(signal).then(resolve, reject);
      }),
  );
}

/** The same for every repetition of the step, in any process. */
export function callId({ id }: Pick<ClaimedExecution, 'id'>, step: string): string {
  return `${id}.${step}`;
}

/** An earlier claim may have reached any step. If the network does not forget calls, the stored progress does not show which. */
export function wasClaimedBefore({ fence }: Pick<ClaimedExecution, 'fence'>): boolean {
  return fence > 1;
}

/** Key in an execution's progress: a call of this step may have reached a network that does not deduplicate calls. */
export function sentFlag(step: string): string {
  return `sent_${step}`;
}

function surelyHadNoEffect(reply: Reply<unknown>): boolean {
  if (reply.kind === 'failed') return reply.hadNoEffect === true;
  if (reply.kind !== 'refused' || reply.reservedIccid !== undefined) return false;
  return reply.reason.code !== 'outcome_unknown';
}

/** Another worker has claimed the execution: this one must make no more network calls for it. */
class ClaimLost extends Error {
  override name = 'ClaimLost';
}

/** The call that a failing execution needs was not made. */
class NetworkPaused extends Error {
  override name = 'NetworkPaused';
}

function ignoreClaimLost(error: unknown): undefined {
  if (!(error instanceof ClaimLost)) throw error;
}

// A driver that honors the signal answers within a tick, and its answer is more precise than `noAnswer`.
const graceMs = 100;

/** Concurrent recovery points share one statement and one commit. */
const progressSaverOf = perDatabase((db) =>
  createGroupCommit({ write: (points: RecoveryPoint[]) => saveProgressRows(db, points) }),
);

const noAnswer: Reply<never> = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'The network did not answer in time.' },
};

/** The call was not made, because the network is paused. */
const notCalled: Extract<Reply<never>, { kind: 'failed' }> = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'The network failed repeatedly, so calls to it wait.' },
  hadNoEffect: true,
  isDown: true,
};

/** A network's refusal as the API shows it on an execution. */
export function errorOf(reason: Refusal, retryable = false): ExecutionError {
  const code: ExecutionErrorCode = reason.code;
  return { code, message: reason.message, retryable, ...(reason.upstream && { upstream: reason.upstream }) };
}

function attemptsExhausted(reason: Refusal, failures: number): ExecutionError {
  return {
    ...errorOf(reason, true),
    message: `The network failed ${failures} times; try again later. Last error: ${reason.message}`,
  };
}

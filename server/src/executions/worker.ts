import { type ExecutionErrorCode, type ExecutionType, idPrefixes } from '@simplane/contract';
import type { Clock } from '../clock.ts';
import type { Database, Queryable } from '../db/database.ts';
import { createGroupCommit, perDatabase } from '../db/group-commit.ts';
import type { Signals } from '../db/signals.ts';
import { idOfUuid } from '../ids/uuid.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import type { Call, Network, Refusal, Reply } from '../network/port.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { onAbort, withDeadline } from '../worker/deadline.ts';
import { type RunResult, startWorkQueue, type WorkQueue } from '../worker/work-queue.ts';
import {
  type ClaimedExecution,
  claimExecutionRows,
  type ExecutionError,
  finish,
  postpone,
  type RecoveryPoint,
  releaseClaim,
  saveProgressRows,
} from './sql.ts';

/** What carrying out executions needs. */
export type Deps = {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  signals: Pick<Signals, 'announce'>;
  network: Network;
  keyring: Keyring;
  leaseMs: number;
  /** How long one call to the network may take. */
  networkTimeoutMs: number;
  /** Told of every execution that ended, or that is put off because of the network. */
  onOutcome(type: ExecutionType, outcome: 'succeeded' | 'failed' | 'postponed'): void;
  /** Pauses before the second, third, … attempt; one more failure after the last is final. */
  retryScheduleMs: number[];
};

/**
 * How a runner ends: it has settled the execution itself, or lost it to another worker (`done`); or the network kept it
 * from doing so (`failed`): then it is tried again later, and `fail` is called when no attempt is left.
 */
export type RunOutcome = { kind: 'done' } | { kind: 'failed'; reason: Refusal };

export type Runner = {
  /** For a whole batch before any is run, where one statement can serve them all. Returns those that are still ours. */
  prepare?(deps: Deps, executions: ClaimedExecution[]): Promise<ClaimedExecution[]>;
  run(deps: Deps, execution: HeldExecution): Promise<RunOutcome>;
  fail(deps: Deps, execution: HeldExecution, error: ExecutionError): Promise<void>;
};

/** An execution together with what only its holder may do. Every write fails once another worker has taken it over. */
export type HeldExecution = ClaimedExecution & {
  /** One step at the network: `step` names its call id, time is bounded. */
  call<Result>(step: string, make: (call: Call) => Promise<Reply<Result>>): Promise<Reply<Result>>;
  /** A recovery point; false when the execution is no longer ours. */
  save(progress: object): Promise<boolean>;
  /** The end, in the transaction of what was done; false when it is no longer ours, and the transaction must not commit. */
  finish(tx: Queryable, error: ExecutionError | null): Promise<boolean>;
};

export type { ClaimedExecution, ExecutionError } from './sql.ts';
export { freeAbandonedExecutions } from './sql.ts';

type Options = Deps & {
  runners: Record<ExecutionType, Runner>;
  concurrency: number;
  pollMs: number;
  onError(error: unknown, about?: object): void;
};

/** Carries out executions: the rows are the queue, every process may take any of them. */
export function startExecutionWorker(options: Options): WorkQueue {
  const { db, runners, leaseMs, concurrency, pollMs, onError } = options;
  return startWorkQueue({
    concurrency,
    pollMs,
    onError,
    async claim(count) {
      const executions = await claimExecutionRows(db, count, leaseMs);
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
    },
    run: (execution, stopping) => runOne(options, execution, stopping).catch(unlessTakenOver),
  });
}

/** What cannot be prepared together is prepared one by one, so that one bad row does not hold up the others. */
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
    await recover(options, execution, error);
    return [];
  }
}

async function runOne(
  options: Options,
  claimed: ClaimedExecution,
  stopping: AbortSignal,
): Promise<RunResult> {
  const runner = options.runners[claimed.type];
  const execution = hold(options, claimed, stopping);
  if (claimed.attempts > mostAttempts(options)) {
    await runner.fail(options, execution, faulty(claimed.attempts));
    return undefined;
  }
  let outcome: RunOutcome;
  try {
    outcome = await runner.run(options, execution);
  } catch (error) {
    if (error instanceof TakenOver) throw error;
    return recover(options, claimed, error);
  }
  options.signals.announce('deliveries', claimed.account_id);
  if (outcome.kind === 'done') return undefined;
  if (stopping.aborted) {
    await releaseClaim(options.db, claimed); // we cut the call off, not the network: the attempt does not count
    return undefined;
  }
  // Only what the network did counts against its schedule; crashes and restarts of ours do not.
  const failures = Number(claimed.progress['failures'] ?? 0) + 1;
  const delayMs = options.retryScheduleMs[failures - 1];
  if (delayMs === undefined) {
    await runner.fail(options, execution, exhausted(outcome.reason, failures));
    return undefined;
  }
  await postpone(options.db, claimed, delayMs, { failures });
  options.onOutcome(claimed.type, 'postponed');
  return { againInMs: delayMs };
}

/** A fault of ours: it is tried again later, and not for ever. */
async function recover(
  options: Options,
  { id, type, attempts, ...rest }: ClaimedExecution,
  error: unknown,
): Promise<RunResult> {
  options.onError(error, { execution_id: idOfUuid(idPrefixes.execution, id), type, attempts });
  const delayMs = Math.min(options.leaseMs, 1_000 * 2 ** Math.min(attempts, 10));
  await postpone(options.db, { id, type, attempts, ...rest }, delayMs, {});
  return { againInMs: delayMs };
}

/** An order that breaks or kills its worker every time is bounded too. */
function mostAttempts({ retryScheduleMs }: Options): number {
  return retryScheduleMs.length + 20;
}

function faulty(attempts: number): ExecutionError {
  return {
    code: 'internal',
    message: `It could not be carried out in ${attempts} attempts, by a fault on our side; order again, and report the id.`,
    retryable: true,
  };
}

function hold(options: Options, claimed: ClaimedExecution, stopping: AbortSignal): HeldExecution {
  const { db, clock, leaseMs, networkTimeoutMs, network } = options;
  const save = (progress: object) => recorderOf(db)({ execution: claimed, progress, leaseMs });

  /** Writes down that a call is about to be made, for a network that would not know it again. Tells whether it was before. */
  async function note(mark: string): Promise<boolean> {
    const isRepeated = claimed.progress[mark] === true;
    await set(mark, true); // a repetition as well: it must still be ours, and have a whole lease for its call
    return isRepeated;
  }

  async function set(mark: string, value: boolean) {
    claimed.progress[mark] = value;
    if (!(await save({ [mark]: value }))) throw new TakenOver();
  }

  return {
    async call(step, make) {
      const mark = sentMark(step);
      const { forgetsCalls } = network;
      const isRepeated = forgetsCalls ? await note(mark) : claimed.progress[mark] === true;
      const call = { id: callId(claimed, step), attempt: claimed.attempts, isRepeated };
      const reply = await untilCutOff(networkTimeoutMs, stopping, (signal) => make({ signal, ...call }));
      if (forgetsCalls && !isRepeated && isSurelyUndone(reply)) await set(mark, false);
      return reply;
    },
    save,
    async finish(tx, error) {
      const isOurs = await finish(tx, claimed, { error, at: new Date(clock.nowMs()) });
      if (isOurs) options.onOutcome(claimed.type, error ? 'failed' : 'succeeded');
      return isOurs;
    },
    ...claimed, // last, as in all that is made for every order: before other fields it takes ten times as long
  };
}

/**
 * A driver should end its call by the signal. One that does not is left behind: the execution goes on without it, and the
 * call id makes a late success of the abandoned call harmless.
 */
function untilCutOff<Result>(
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

/** The same for every repetition of the step, whoever makes it. */
export function callId({ id }: Pick<ClaimedExecution, 'id'>, step: string): string {
  return `${id}.${step}`;
}

/** In an execution's progress: a call of this step may have reached a network that would not know it again. */
export function sentMark(step: string): string {
  return `sent_${step}`;
}

function isSurelyUndone(reply: Reply<unknown>): boolean {
  if (reply.kind === 'failed') return reply.isUndone === true;
  return reply.kind === 'refused' && reply.reason.code !== 'outcome_unknown';
}

/** The execution is another worker's now: nothing more may be asked of the network for it. */
class TakenOver extends Error {
  override name = 'TakenOver';
}

function unlessTakenOver(error: unknown): undefined {
  if (!(error instanceof TakenOver)) throw error;
}

// A driver that ends its call by the signal answers within a tick, and knows better than we do what became of it.
const graceMs = 100;

/** Steps that end together are recorded by one statement, and one commit. */
const recorderOf = perDatabase((db) =>
  createGroupCommit({ write: (points: RecoveryPoint[]) => saveProgressRows(db, points) }),
);

const noAnswer: Reply<never> = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'The network did not answer in time.' },
};

/** A refusal as an execution shows it. */
export function errorOf(reason: Refusal, retryable = false): ExecutionError {
  const code: ExecutionErrorCode = reason.code;
  return { code, message: reason.message, retryable, ...(reason.upstream && { upstream: reason.upstream }) };
}

function exhausted(reason: Refusal, failures: number): ExecutionError {
  return {
    ...errorOf(reason, true),
    message: `The network did not carry it out in ${failures} attempts; ask for it again later. Last: ${reason.message}`,
  };
}

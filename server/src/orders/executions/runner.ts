import type { ExecutionErrorCode, ExecutionType } from '@simplane/contract';
import type { CoreMode } from '../../network/core-mode.ts';
import type { Call, Network, Refusal, Reply } from '../../network/port.ts';
import type { HandingOver } from '../../notify/events/hand-over.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import type { Signals } from '../../platform/db/signals.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import type { Keyring } from '../../platform/secrets/keyring.ts';
import type { ExecutionError } from './sql/executions.ts';
import type { ClaimedExecution } from './sql/queue.ts';

export { countOpen, type ExecutionError } from './sql/executions.ts';
export {
  type ClaimedExecution,
  releaseOrphanedExecutions,
  takeOver,
  takeUnsent,
  takeUnsentOfAccount,
  takeUnsentOfBatch,
  wakeChanges,
} from './sql/queue.ts';

export type Deps = HandingOver & {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  signals: Pick<Signals, 'announce'>;
  network: Network;
  core: CoreMode;
  keyring: Keyring;
  /** Names the worker in its leases. */
  holder: string;
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
 * `done`: the runner ended the execution, or another worker has claimed it; `isAnnounced`, if nothing else is to be told. `failed`: the network failed; the execution is
 * retried later, and `fail` is called when no attempt is left.
 */
export type RunOutcome = { kind: 'done'; isAnnounced?: true } | Extract<Reply<never>, { kind: 'failed' }>;

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
  /** Gives it back in the caller's transaction, until the core has the change or has refused it. Throws if the claim was lost. */
  waitForCore(tx: Queryable): Promise<void>;
  /** Ends the execution in the caller's transaction. False if the claim was lost: then the transaction must write nothing. */
  finish(tx: Queryable, error: ExecutionError | null): Promise<boolean>;
};

export type Runners = Record<ExecutionType, Runner>;

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

/** A network's refusal as the API shows it on an execution. */
export function errorOf(reason: Refusal, retryable = false): ExecutionError {
  const code: ExecutionErrorCode = reason.code;
  return { code, message: reason.message, retryable, ...(reason.upstream && { upstream: reason.upstream }) };
}

import type { Core, Reply } from '../../network/port.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import type { Announcing } from '../../platform/db/signals.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { type RunResult, startWorkQueue, type WorkQueue } from '../../platform/worker/work-queue.ts';
import { type Breaker, createBreaker } from '../executions/breaker.ts';
import { finish } from '../executions/finish.ts';
import { withTimeout } from '../executions/hold.ts';
import { type Deps, takeOver, wakeChanges } from '../executions/runner.ts';
import { createAccountTurns } from './account-turns.ts';
import {
  claimServices,
  clearPendingChange,
  lockServed,
  postponeService,
  type QueuedService,
  storeApplied,
  storeRefused,
} from './core-sql.ts';
import type { PendingChange } from './served-esim.ts';
import { verdictOf } from './verdict.ts';

type Options = TimeAndIds & {
  signals: Announcing['signals'];
  db: Database;
  core: Core;
  /** Commands in flight. An account that has half of them waits. */
  concurrency: number;
  /** Names the worker in its leases. */
  holder: string;
  leaseMs: number;
  timeoutMs: number;
  /** Pauses after an answer that may be temporary; the last one repeats for as long as it takes. */
  retryScheduleMs: readonly number[];
  pollMs: number;
  pause: Pick<Parameters<typeof createBreaker>[0], 'afterFailures' | 'pauseMs'>;
  /** Called when the core is paused, for so long, or works again (null). */
  onPause(pausedMs: number | null): void;
  onOutcome: Deps['onOutcome'];
  onError(error: unknown): void;
};

/**
 * Sends the core the newest state of each eSIM until it has it. However often an eSIM changes while the core is down, one command
 * is left to send.
 */
export function startCoreSender(options: Options): WorkQueue & { isPaused(): boolean } {
  const { db, concurrency, holder, leaseMs, pollMs, onError } = options;
  const breaker = createBreaker({ ...options.pause, onChange: options.onPause });
  const turns = createAccountTurns({ perAccount: Math.ceil(concurrency / 2) });

  async function claim(free: number): Promise<QueuedService[]> {
    if (breaker.isPaused() && !breaker.mayClaimProbe()) return [];
    const wanted = breaker.isPaused() ? 1 : free;
    const claimed: QueuedService[] = [];
    for (const afterAccount of turns.starts()) {
      const count = wanted - claimed.length;
      if (count === 0) break;
      const exceptAccounts = turns.full();
      const batch = await claimServices(db, { count, holder, leaseMs, afterAccount, exceptAccounts });
      turns.begin(batch);
      claimed.push(...batch);
    }
    return claimed;
  }

  const queue = startWorkQueue<QueuedService>({
    ...{ concurrency, pollMs, onError, claim },
    run: (job, stopping) => send(options, breaker, job, stopping).finally(() => turns.end(job)),
  });
  return { ...queue, isPaused: breaker.isPaused };
}

async function send(
  options: Options,
  breaker: Breaker,
  job: QueuedService,
  stopping: AbortSignal,
): Promise<RunResult> {
  const permit = breaker.permit();
  if (!permit) return postpone(options, job, { delayMs: breaker.waitMs(), reason: null });
  try {
    const { id, body } = commandOf(job);
    const reply = await withTimeout(options.timeoutMs, stopping, (signal) =>
      options.core.setService({ id, body, signal }),
    );
    permit.end(reply);
    if (reply.kind !== 'failed') return await settle(options, job, reply);
    // Nothing is known if a shutdown ended the call: another process sends it again.
    if (stopping.aborted) return await postpone(options, job, { delayMs: 0, reason: null });
    return await postpone(options, job, { delayMs: delayAfter(reply, job, options), reason: reply.reason });
  } finally {
    permit.release();
  }
}

/** The same bytes for every repetition of a version, in any process. */
function commandOf({ iccid, version, service }: QueuedService): { id: string; body: string } {
  const id = `${iccid}.${version}`;
  const { state, reason, kbps, bundle_id, until } = service;
  const content = { state, reason, kbps, bundle_id, until };
  return { id, body: JSON.stringify({ id, command: 'set_service', iccid, version, ...content }) };
}

/** While the core is down the breaker says when to try again, so the state is due as soon as it works. */
function delayAfter(
  { isDown }: Extract<Reply<unknown>, { kind: 'failed' }>,
  { failures }: QueuedService,
  { retryScheduleMs }: Options,
): number {
  const scheduled = retryScheduleMs[failures] ?? retryScheduleMs.at(-1) ?? downDelayMs;
  return isDown ? Math.min(scheduled, downDelayMs) : scheduled;
}

const downDelayMs = 1_000;

async function postpone(
  { db }: Options,
  job: QueuedService,
  wait: Parameters<typeof postponeService>[2],
): Promise<RunResult> {
  await postponeService(db, job, wait);
  return { againInMs: wait.delayMs };
}

/** Stores the answer, for this version only, and goes on with the change that waits for it. */
async function settle(
  options: Options,
  job: QueuedService,
  reply: Exclude<Reply<unknown>, { kind: 'failed' }>,
): Promise<undefined> {
  const { db, clock, signals } = options;
  const { isEnded, woken } = await db.transaction(async (tx: Queryable) => {
    const pending = (await lockServed(tx, job))?.pending_change;
    if (reply.kind === 'done') await storeApplied(tx, job, new Date(clock.nowMs()));
    else await storeRefused(tx, job, reply.reason);
    if (pending?.change === 'terminate') {
      const appliedVersion = reply.kind === 'done' ? job.version : null;
      return { isEnded: await endTermination(tx, options, { job, pending, appliedVersion }), woken: 0 };
    }
    return { isEnded: false, woken: pending ? await wakeChanges(tx, job.account_id, job.iccid) : 0 };
  });
  if (isEnded) signals.announce('deliveries', job.account_id);
  if (woken > 0) signals.announce('executions');
}

type Waiting = { job: QueuedService; pending: PendingChange; appliedVersion: number | null };

/**
 * Ends a termination that waited for this answer: all else of it is written. A worker of the release that knew no states would
 * repeat it and fail, because the eSIM is terminated.
 */
async function endTermination(
  tx: Queryable,
  { clock, newUuid, onOutcome }: Options,
  { job, pending, appliedVersion }: Waiting,
): Promise<boolean> {
  const { account_id, iccid } = job;
  const verdict = await verdictOf(tx, {
    ...{ account_id, iccid, pending_change: pending },
    applied_version: appliedVersion,
  });
  const execution = verdict && (await takeOver(tx, account_id, pending.execution_id));
  if (!execution) return false;
  const error = verdict.kind === 'refused' ? verdict.error : null;
  await finish(tx, { newUuid }, execution, { error, at: new Date(clock.nowMs()) });
  await clearPendingChange(tx, job);
  onOutcome(execution.type, error ? 'failed' : 'succeeded');
  return true;
}

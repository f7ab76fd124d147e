import { idPrefixes } from '@simplane/contract';
import type { Origin } from '../../accounts/context.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import type { Announcing } from '../../platform/db/signals.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { retryById } from './retry.ts';
import { nullIfRefused } from './retry-group.ts';
import { findAnyExecution } from './sql/executions.ts';
import {
  findFailedMembers,
  type GroupRetryRow,
  makeMembersDue,
  takeGroupRetry,
  updateGroupRetry,
} from './sql/groups.ts';

type Deps = TimeAndIds & Announcing;

// Per transaction: short enough for an account's other requests that lock the same eSIM.
const batchSize = 20;
const maxWoken = 1_000;

/**
 * Continues the retries of failure groups: when the first execution has succeeded, starts the others in batches. Each batch commits
 * together with how far it got, so a process that dies repeats nothing.
 */
export async function continueGroupRetries(db: Database, deps: Deps, stopping: AbortSignal): Promise<void> {
  let after = lowestUuid;
  while (!stopping.aborted) {
    const step = await db.transaction((tx) => takeStep(tx, deps, after));
    if (!step) return;
    if (step.started) deps.signals.announce('executions');
    // One that has more to do is taken again.
    if (!step.hasMore) after = step.id;
  }
}

async function takeStep(tx: Queryable, deps: Deps, after: string) {
  const retry = await takeGroupRetry(tx, after);
  if (!retry) return null;
  const next = retry.status === 'testing' ? await judgeFirst(tx, retry) : await startBatch(tx, deps, retry);
  if (next) {
    const isOver = next.status === 'succeeded' || next.status === 'stopped';
    const finished_at = isOver ? new Date(deps.clock.nowMs()) : null;
    await updateGroupRetry(tx, retry.id, { ...retry, ...next, finished_at });
  }
  return {
    id: retry.id,
    hasMore: next?.status === 'running',
    started: next !== null && next.status !== 'stopped',
  };
}

type Next = Partial<Pick<GroupRetryRow, 'after_id' | 'retried'>> & Pick<GroupRetryRow, 'status'>;

/** Null while the first execution runs. */
async function judgeFirst(tx: Queryable, retry: GroupRetryRow): Promise<Next | null> {
  const first = await findAnyExecution(tx, retry.execution_id);
  if (first?.status === 'failed' || !first) return { status: 'stopped' };
  if (first.status !== 'succeeded') return null;
  await makeMembersDue(tx, retry.group_id, maxWoken);
  return { status: 'running' };
}

async function startBatch(tx: Queryable, deps: Deps, retry: GroupRetryRow): Promise<Next> {
  const members = await findFailedMembers(tx, retry.group_id, {
    afterUuid: retry.after_id,
    lastUuid: retry.last_id,
    count: batchSize,
  });
  const origin = retry.origin as Origin;
  let { retried } = retry;
  for (const { id } of members) {
    const started = await retryById(tx, { ...deps, ...origin }, idOfUuid(idPrefixes.execution, id)).catch(
      nullIfRefused,
    );
    if (started) retried += 1;
  }
  const last = members.at(-1);
  if (!last) return { status: 'succeeded' };
  return { status: 'running', after_id: last.id, retried };
}

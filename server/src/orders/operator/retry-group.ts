import { type InputFor, idPrefixes } from '@simplane/contract';
import type { Author, OperatorContext, Origin } from '../../accounts/context.ts';
import { AppError, conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid, uuidText } from '../../platform/ids/uuid.ts';
import { highestUuidAt } from '../../platform/ids/uuid-range.ts';
import { clip } from '../../platform/telemetry/clip.ts';
import { oldestGroupedUuid, presentRetry, readGroups } from './list-groups.ts';
import { retryById } from './retry.ts';
import { findFailedMembers, type GroupRetryRow, insertGroupRetry, makeMembersDue } from './sql/groups.ts';

/** Starts one execution of the group; `continueGroupRetries` starts the others if that one succeeds. */
export async function retryFailureGroup(
  tx: Queryable,
  ctx: OperatorContext,
  { params: { id: groupId } }: InputFor<'retryFailureGroup'>,
) {
  const { clock } = ctx;
  const group = (await readGroups({ db: tx, clock })).find(({ id }) => id === groupId);
  if (!group) throw noSuchGroup(groupId);
  if (group.code === 'outcome_unknown')
    throw conflict('Executions with unknown outcome cannot be retried together: resolve each of them.');
  if (group.retry && group.retry.finished_at === null) throw runsAlready();
  const first = (await startFirst(tx, ctx, groupId)) ?? (await wakeFirst(tx, ctx, groupId));
  if (!first) throw nothingToRetry();
  const { afterUuid, accountUuid, executionUuid, retried } = first;
  const retry: GroupRetryRow = {
    id: uuidText(ctx.newUuid()),
    group_id: groupId,
    status: 'testing',
    account_id: accountUuid,
    execution_id: executionUuid,
    after_id: afterUuid,
    last_id: highestUuidAt(clock.nowMs()),
    retried,
    origin: originOf(ctx),
    created_at: new Date(clock.nowMs()),
    finished_at: null,
  };
  await insertGroupRetry(tx, retry).catch((error: { code?: string }) => {
    if (error.code === '23505') throw runsAlready();
    throw error;
  });
  const updated = (await readGroups({ db: tx, clock })).find(({ id }) => id === groupId);
  return {
    // The group is gone if it had a single execution.
    body: updated ?? { ...group, failed: 0, waiting: 0, retry: presentRetry(retry) },
    location: '/v1/operator/failure_groups',
    changes: { first: idOfUuid(idPrefixes.execution, executionUuid), failed: group.failed },
    afterCommit: () => ctx.signals.announce('executions'),
  };
}

type First = { accountUuid: string; executionUuid: string; afterUuid: string; retried: number };

// How many executions that cannot be retried are skipped.
const candidates = 20;

/** Starts the oldest failure that can be retried. */
async function startFirst(tx: Queryable, deps: Author, groupId: string): Promise<First | null> {
  const lastUuid = highestUuidAt(deps.clock.nowMs());
  const members = await findFailedMembers(tx, groupId, {
    afterUuid: oldestGroupedUuid(deps.clock),
    lastUuid,
    count: candidates,
  });
  for (const { id: uuid } of members) {
    const id = idOfUuid(idPrefixes.execution, uuid);
    const started = await retryById(tx, deps, id).catch(nullIfRefused);
    if (!started) continue;
    return { accountUuid: started.account_id, executionUuid: started.id, afterUuid: uuid, retried: 1 };
  }
  return null;
}

/** For a group in which executions only wait: makes the oldest due. */
async function wakeFirst(tx: Queryable, { clock }: Author, groupId: string): Promise<First | null> {
  const [woken] = await makeMembersDue(tx, groupId, 1);
  if (!woken) return null;
  const { account_id: accountUuid, id: executionUuid } = woken;
  return { accountUuid, executionUuid, afterUuid: oldestGroupedUuid(clock), retried: 0 };
}

/** A refusal is decided before anything is written, so the transaction can go on. */
export function nullIfRefused(error: unknown): null {
  if (error instanceof AppError) return null;
  throw error;
}

function originOf({ apiKey, requestId, ip }: Origin): object {
  const key = apiKey && { id: apiKey.id, name: apiKey.name, scopes: apiKey.scopes };
  return { apiKey: key, requestId, ip };
}

function noSuchGroup(id: string): AppError {
  return new AppError(
    'resource_missing',
    `No failure group has the id "${clip(id)}"; perhaps all of its executions were retried or resolved.`,
    { param: 'id' },
  );
}

function runsAlready(): AppError {
  return conflict('A retry of this group is still running. Look at its `retry` until it has ended.');
}

function nothingToRetry(): AppError {
  return conflict(
    'None of the oldest executions of the group can be retried: their eSIMs have changed, or they had a confirmation code.',
  );
}

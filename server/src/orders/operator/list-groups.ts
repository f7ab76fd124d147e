import {
  executionRemedies,
  type FailureGroup,
  failureGroupDays,
  failureGroupMaxCount,
  idPrefixes,
} from '@simplane/contract';
import { type Clock, unixSeconds } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { lowestUuidAt, unixMsOf } from '../../platform/ids/uuid-range.ts';
import {
  findGroupRetries,
  type GroupRetryRow,
  type GroupRow,
  listFailedGroups,
  listWaitingGroups,
} from './sql/groups.ts';

const maxGroups = 100;

type Deps = { db: Queryable; clock: Clock };

export async function listFailureGroups(deps: Deps) {
  return { object: 'list' as const, data: await readGroups(deps), has_more: false };
}

/** Failed and waiting executions by cause, the largest group first. */
export async function readGroups({ db, clock }: Deps): Promise<FailureGroup[]> {
  const failed = await listFailedGroups(db, {
    sinceUuid: oldestGroupedUuid(clock),
    maxCount: failureGroupMaxCount,
    groups: maxGroups,
  });
  const waiting = await listWaitingGroups(db, failureGroupMaxCount);
  const ids = [...new Set([...failed, ...waiting].map(({ id }) => id))];
  const retries = new Map((await findGroupRetries(db, ids)).map((retry) => [retry.group_id, retry]));
  const byId = (rows: GroupRow[]) => new Map(rows.map((row) => [row.id, row]));
  const [failedById, waitingById] = [byId(failed), byId(waiting)];
  return ids
    .map((id) => present(id, failedById.get(id), waitingById.get(id), retries.get(id)))
    .sort((a, b) => b.failed + b.waiting - (a.failed + a.waiting))
    .slice(0, maxGroups);
}

/** Failures with lower ids are too old for a group. */
export function oldestGroupedUuid(clock: Clock): string {
  return lowestUuidAt(clock.nowMs() - failureGroupDays * 86_400_000);
}

function present(
  id: string,
  failed: GroupRow | undefined,
  waiting: GroupRow | undefined,
  retry: GroupRetryRow | undefined,
): FailureGroup {
  const rows = [failed, waiting].filter((row) => row !== undefined);
  const samples = rows.flatMap((row) => row.samples).sort((a, b) => (a.id < b.id ? 1 : -1));
  const [newest] = samples as [(typeof samples)[number]];
  const times = rows.flatMap((row) => [row.oldest, row.newest].map(unixMsOf));
  return {
    id,
    object: 'failure_group',
    code: newest.code,
    network: newest.network,
    upstream_code: newest.upstream_code,
    message: newest.message,
    remedy: executionRemedies[newest.code],
    failed: failed?.count ?? 0,
    waiting: waiting?.count ?? 0,
    oldest: unixSeconds(new Date(Math.min(...times))),
    newest: unixSeconds(new Date(Math.max(...times))),
    executions: samples.slice(0, 3).map((sample) => idOfUuid(idPrefixes.execution, sample.id)),
    retry: retry ? presentRetry(retry) : null,
  };
}

export function presentRetry(retry: GroupRetryRow): NonNullable<FailureGroup['retry']> {
  return {
    status: retry.status,
    execution_id: idOfUuid(idPrefixes.execution, retry.execution_id),
    retried: retry.retried,
    created: unixSeconds(retry.created_at),
    finished_at: retry.finished_at && unixSeconds(retry.finished_at),
  };
}

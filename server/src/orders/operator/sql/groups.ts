import type { ExecutionErrorCode, FailureGroup } from '@simplane/contract';
import { isHere } from '../../../accounts/moves/is-here.ts';
import { many, one, run } from '../../../platform/db/statement.ts';
import { failureGroupOf, networkOf, upstreamCodeOf } from '../../executions/sql-parts.ts';

export type GroupRow = {
  id: string;
  /** Times are in the ids. */
  oldest: string;
  newest: string;
  count: number;
  samples: Sample[];
};

type Sample = {
  id: string;
  code: ExecutionErrorCode;
  network: string | null;
  upstream_code: string | null;
  message: string;
};

type Bounds = { sinceUuid: string; maxCount: number; groups: number };

// Causes of all time, since a failure that nobody acts on stays in its group. Skipping one without recent failures takes 10 µs.
const maxSkipped = 10_000;

const sampleOf = (error: string, message: string) => `jsonb_build_object(
      'id', id,
      'code', ${error} ->> 'code',
      'network', ${networkOf('progress')},
      'upstream_code', ${upstreamCodeOf(error)},
      'message', ${message})`;

/**
 * The largest groups of failures on which nobody has acted. Skips from group to group in their index, so the number of executions
 * matters only for the counts, which read the index alone and stop at `maxCount`.
 */
export const listFailedGroups = many<GroupRow, [bounds: Bounds]>(
  'failure_group_list_failed',
  ({ sinceUuid, maxCount, groups }) => [sinceUuid, maxCount, groups],
)`
with recursive groups as (
  (
    select failure_group as id, 1 as n
    from executions
    where failure_group is not null
    order by failure_group
    limit 1
  )
  union all
  select
    (
      select failure_group
      from executions
      where failure_group > groups.id
      order by failure_group
      limit 1
    ),
    n + 1
  from groups
  where groups.id is not null and n < ${maxSkipped}
)
select
  groups.id,
  counted.count::integer,
  (
    select id
    from executions
    where failure_group = groups.id and id >= $1
    order by id
    limit 1
  ) as oldest,
  (
    select id
    from executions
    where failure_group = groups.id and id >= $1
    order by id desc
    limit 1
  ) as newest,
  (
    select jsonb_agg(sample)
    from (
      select ${sampleOf('error', `coalesce(progress #>> '{last_error,message}', error ->> 'message')`)} as sample
      from executions
      where failure_group = groups.id and id >= $1
      order by id desc
      limit 3
    ) newest
  ) as samples
from groups
cross join lateral (
  select count(*)
  from (
    select
    from executions
    where failure_group = groups.id and id >= $1
    limit $2
  ) members
) counted
where counted.count > 0
order by counted.count desc, groups.id
limit $3`;

/** The groups of executions that wait after a failure. Reads at most `maxCount` of them. */
export const listWaitingGroups = many<GroupRow, [maxCount: number]>('failure_group_list_waiting')`
with waiting as materialized (
  select id, progress, progress -> 'last_error' as error
  from execution_queue
  where fence > 0
    and leased_until is null
    and progress ? 'last_error'
    and progress ? 'waiting_for'
  limit $1
)
select
  ${failureGroupOf('error', 'progress')} as id,
  count(*)::integer as count,
  min(id::text) as oldest,
  max(id::text) as newest,
  to_jsonb((array_agg(${sampleOf('error', `error ->> 'message'`)} order by id desc))[1:3]) as samples
from waiting
group by 1`;

type Member = { account_id: string; id: string };

/** Failures of a group on which nobody has acted, oldest first, after one and up to another. */
export const findFailedMembers = many<
  Member,
  [groupId: string, page: { afterUuid: string; lastUuid: string; count: number }]
>('failure_group_failed_members', (groupId, { afterUuid, lastUuid, count }) => [
  groupId,
  afterUuid,
  lastUuid,
  count,
])`
select account_id, id
from executions
where failure_group = $1
  and id > $2
  and id <= $3
  and ${isHere('executions.account_id')}
order by id
limit $4`;

/** Makes executions of a group that wait due now, at most `count`. Returns them. */
export const makeMembersDue = many<Member, [groupId: string, count: number]>('failure_group_make_due')`
update execution_queue q
set due_at = least(q.due_at, now())
where q.ctid = any(array(
  select ctid
  from execution_queue
  where fence > 0
    and leased_until is null
    and due_at > now()
    and progress ? 'last_error'
    and progress ? 'waiting_for'
    and ${failureGroupOf(`(progress -> 'last_error')`, 'progress')} = $1
  order by id
  limit $2
  for update skip locked
))
returning q.account_id, q.id`;

export type GroupRetryRow = {
  id: string;
  group_id: string;
  status: NonNullable<FailureGroup['retry']>['status'];
  account_id: string;
  execution_id: string;
  after_id: string;
  last_id: string;
  retried: number;
  origin: object;
  created_at: Date;
  finished_at: Date | null;
};

const retryColumns =
  'id, group_id, status, account_id, execution_id, after_id, last_id, retried, origin, created_at, finished_at';

export const insertGroupRetry = run<[row: GroupRetryRow]>('failure_group_insert_retry', (row) => [
  row.id,
  row.group_id,
  row.status,
  row.account_id,
  row.execution_id,
  row.after_id,
  row.last_id,
  row.retried,
  JSON.stringify(row.origin),
  row.created_at,
  row.finished_at,
])`
insert into failure_group_retries (${retryColumns})
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

/** The last retry of each of these groups. */
export const findGroupRetries = many<GroupRetryRow, [groupIds: string[]]>('failure_group_find_retries')`
select latest.*
from unnest($1::text[]) as wanted (id)
cross join lateral (
  select ${retryColumns}
  from failure_group_retries
  where group_id = wanted.id
  order by id desc
  limit 1
) latest`;

/** Locks the oldest open retry that no other process works on, after the given one. */
export const takeGroupRetry = one<GroupRetryRow, [afterUuid: string]>('failure_group_take_retry')`
select ${retryColumns}
from failure_group_retries
where finished_at is null and id > $1
order by id
limit 1
for update skip locked`;

type Change = Pick<GroupRetryRow, 'status' | 'after_id' | 'retried' | 'finished_at'>;

export const updateGroupRetry = run<[id: string, change: Change]>(
  'failure_group_update_retry',
  (id, change) => [id, change.status, change.after_id, change.retried, change.finished_at],
)`
update failure_group_retries
set status = $2,
    after_id = $3,
    retried = $4,
    finished_at = $5
where id = $1`;

import type { ExecutionErrorCode } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { failureGroupOf, networkOf, upstreamCodeOf } from '../../executions/failure-group.ts';

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

/**
 * The largest groups of failures on which nobody has acted. Skips from group to group in their index, so the number of executions
 * matters only for the counts, which read the index alone and stop at `maxCount`.
 */
export function listFailedGroups(
  db: Queryable,
  { sinceUuid, maxCount, groups }: Bounds,
): Promise<GroupRow[]> {
  return db.query(listFailed, [sinceUuid, maxCount, groups]);
}

/** The groups of executions that wait after a failure. Reads at most `maxCount` of them. */
export function listWaitingGroups(db: Queryable, maxCount: number): Promise<GroupRow[]> {
  return db.query(listWaiting, [maxCount]);
}

const sampleOf = (error: string, message: string) => `jsonb_build_object(
      'id', id,
      'code', ${error} ->> 'code',
      'network', ${networkOf('progress')},
      'upstream_code', ${upstreamCodeOf(error)},
      'message', ${message})`;

const listFailed = {
  name: 'failure_group_list_failed',
  text: `
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
limit $3`,
};

const listWaiting = {
  name: 'failure_group_list_waiting',
  text: `
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
group by 1`,
};

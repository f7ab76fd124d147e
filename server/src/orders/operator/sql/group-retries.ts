import type { FailureGroup } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';

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

const columns =
  'id, group_id, status, account_id, execution_id, after_id, last_id, retried, origin, created_at, finished_at';

export async function insertGroupRetry(tx: Queryable, row: GroupRetryRow): Promise<void> {
  await tx.query(
    {
      name: 'failure_group_insert_retry',
      text: `
insert into failure_group_retries (${columns})
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    },
    [
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
    ],
  );
}

/** The last retry of each of these groups. */
export function findGroupRetries(db: Queryable, groupIds: string[]): Promise<GroupRetryRow[]> {
  return db.query(
    {
      name: 'failure_group_find_retries',
      text: `
select latest.*
from unnest($1::text[]) as wanted (id)
cross join lateral (
  select ${columns}
  from failure_group_retries
  where group_id = wanted.id
  order by id desc
  limit 1
) latest`,
    },
    [groupIds],
  );
}

/** Locks the oldest open retry that no other process works on, after the given one. */
export async function takeGroupRetry(tx: Queryable, afterUuid: string): Promise<GroupRetryRow | null> {
  const [row] = await tx.query<GroupRetryRow>(
    {
      name: 'failure_group_take_retry',
      text: `
select ${columns}
from failure_group_retries
where finished_at is null and id > $1
order by id
limit 1
for update skip locked`,
    },
    [afterUuid],
  );
  return row ?? null;
}

type Change = Pick<GroupRetryRow, 'status' | 'after_id' | 'retried' | 'finished_at'>;

export async function updateGroupRetry(tx: Queryable, id: string, change: Change): Promise<void> {
  await tx.query(
    {
      name: 'failure_group_update_retry',
      text: `
update failure_group_retries
set status = $2,
    after_id = $3,
    retried = $4,
    finished_at = $5
where id = $1`,
    },
    [id, change.status, change.after_id, change.retried, change.finished_at],
  );
}

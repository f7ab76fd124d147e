import type { Execution, ExecutionStatus, ExecutionType } from '@simplane/contract';
import { byteStrings, integers, texts, timestamps, uuids } from '../db/binary-array.ts';
import type { Queryable } from '../db/database.ts';
import { forceKeyLookup, statusWithoutPartialIndex } from '../db/planner-hints.ts';
import type { Claim } from '../idempotency/claim.ts';
import { lockKey } from '../idempotency/lock-key.ts';
import type { Answer, StoredAnswer } from '../idempotency/outcome.ts';
import { beforeFirst } from '../lists/keyset.ts';

export type ExecutionError = NonNullable<Execution['error']>;

export type ExecutionRow = {
  id: string;
  type: ExecutionType;
  status: ExecutionStatus;
  product_id: string | null;
  iccid: string | null;
  error: ExecutionError | null;
  attempts: number;
  created_at: Date;
  finished_at: Date | null;
};

const columns = 'id, type, status, product_id, iccid, error, attempts, created_at, finished_at';

export async function findExecution(
  db: Queryable,
  accountUuid: string,
  uuid: string,
): Promise<ExecutionRow | null> {
  const [row] = await db.query<ExecutionRow>(
    { name: 'execution_find', text: `select ${columns} from executions where account_id = $1 and id = $2` },
    [accountUuid, uuid],
  );
  return row ?? null;
}

export function listExecutionRows(
  db: Queryable,
  accountUuid: string,
  page: { status: ExecutionStatus | undefined; beforeUuid: string | null; count: number },
): Promise<ExecutionRow[]> {
  const values = [accountUuid, page.beforeUuid ?? beforeFirst, page.count];
  if (page.status === undefined) {
    return db.query(
      {
        name: 'execution_list',
        text: `select ${columns} from executions where account_id = $1 and id < $2 order by id desc limit $3`,
      },
      values,
    );
  }
  // The status stands in the text, not in a parameter: only so can a prepared plan use the partial index.
  return db.query(
    {
      name: `execution_list_${page.status}`,
      text: `select ${columns} from executions
             where account_id = $1 and status = '${page.status}' and id < $2 order by id desc limit $3`,
    },
    values,
  );
}

export type NewExecution = {
  accountUuid: string;
  uuid: string;
  type: ExecutionType;
  productId: string;
  input: object;
  createdAt: Date;
  claim: Claim | null;
  answer: Answer;
};

export type AcceptRow =
  | ({ outcome: 'stored' } & StoredAnswer)
  | { outcome: 'accepted' | 'in_progress' | 'overtaken' | 'product_missing' | 'product_inactive' };

/**
 * Accepts orders in one statement: lock the idempotency key, look it up, check the product, write the execution and
 * the stored answer. The results are in the order of the rows. One (account, key) may be among them once only.
 *
 * The statement's snapshot may be older than a lock it gets: then the key was stored by a transaction that has just
 * committed, the insert meets its row and does nothing, and the row is `overtaken`: asking again sees it.
 */
export async function acceptExecutionRows(db: Queryable, rows: NewExecution[]): Promise<AcceptRow[]> {
  const others = await db.query<{ n: number } & AcceptRow>(accept, [
    uuids(rows.map((row) => row.accountUuid)),
    uuids(rows.map((row) => row.uuid)),
    texts(rows.map((row) => row.type)),
    texts(rows.map((row) => row.productId)),
    texts(rows.map((row) => JSON.stringify(row.input))),
    timestamps(rows.map((row) => row.createdAt)),
    texts(rows.map((row) => row.claim?.key ?? null)),
    byteStrings(rows.map((row) => row.claim?.fingerprint ?? null)),
    timestamps(rows.map((row) => row.claim?.expiresAt ?? null)),
    integers(rows.map((row) => row.answer.status)),
    texts(rows.map((row) => row.answer.location)),
    texts(rows.map((row) => row.answer.body)),
  ]);
  const results: AcceptRow[] = rows.map(() => accepted);
  for (const { n, ...result } of others) results[n - 1] = result;
  return results;
}

const accepted: AcceptRow = { outcome: 'accepted' };

// Tells of those that were not accepted: reading a row for each of the others took as long as checking its body.
//
// The look-ups are laterals with `offset 0`: as plain joins they became, with the statistics of an empty database, scans of
// whole tables in a plan that is kept, and accepting fell below 100 orders a second while the tables grew.
const accept = {
  name: 'execution_accept',
  text: `
with given as (
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[],
                       $8::bytea[], $9::timestamptz[], $10::integer[], $11::text[], $12::text[]) with ordinality
    as g (account_id, id, type, product_id, input, created_at, key, fingerprint, expires_at, status, location, body, n)
), locked as materialized (
  select given.*, key is null or ${lockKey('account_id', 'key')} as locked from given
), checked as materialized (
  select locked.*, product.active, stored.fingerprint as stored_fingerprint, stored.status as stored_status,
         stored.location as stored_location, stored.body as stored_body
  from locked
  left join lateral (select active from products p where p.id = locked.product_id offset 0) product on true
  left join lateral (
    select k.fingerprint, k.status, k.location, k.body from idempotency_keys k
    where k.account_id = locked.account_id and k.key = locked.key and k.expires_at > locked.created_at offset 0
  ) stored on locked.locked
), claimed as (
  insert into idempotency_keys as k (account_id, key, fingerprint, status, location, body, created_at, expires_at)
  select account_id, key, fingerprint, status, location, body, created_at, expires_at from checked
  where key is not null and locked and stored_status is null and active
  order by account_id, key
  on conflict (account_id, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
    location = excluded.location, body = excluded.body, created_at = excluded.created_at, expires_at = excluded.expires_at,
    is_sealed = false
    where k.expires_at <= excluded.created_at
  returning account_id, key
), accepted as (
  insert into executions (account_id, id, type, status, product_id, input, created_at)
  select account_id, id, type, 'queued', product_id, input::jsonb, created_at from checked
  where active and (key is null or (account_id, key) in (select account_id, key from claimed))
  returning id
)
select n::integer,
       case when not locked then 'in_progress'
            when stored_status is not null then 'stored'
            when active is null then 'product_missing'
            when not active then 'product_inactive'
            else 'overtaken' end as outcome,
       stored_fingerprint as fingerprint, stored_status as status, stored_location as location, stored_body as body
from checked where id not in (select id from accepted)`,
};

/** For orders about an eSIM that exists: written in the transaction that has checked it. */
export async function insertExecution(
  tx: Queryable,
  row: Omit<NewExecution, 'claim' | 'answer'> & { iccid: string },
): Promise<void> {
  await tx.query(
    {
      name: 'execution_insert',
      text: `insert into executions (account_id, id, type, status, product_id, iccid, input, created_at)
             values ($1, $2, $3, 'queued', $4, $5, $6, $7)`,
    },
    [row.accountUuid, row.uuid, row.type, row.productId, row.iccid, JSON.stringify(row.input), row.createdAt],
  );
}

/** An execution in the hands of one worker. `fence` proves it: whoever claims it later gets a higher one. */
export type ClaimedExecution = {
  account_id: string;
  id: string;
  type: ExecutionType;
  product_id: string;
  iccid: string | null;
  input: Record<string, unknown>;
  progress: Record<string, unknown>;
  attempts: number;
  fence: number;
};

/** Takes due rows, oldest first, and sets them due again at the end of the lease. The database's clock is the only one. */
export function claimExecutionRows(
  db: Queryable,
  count: number,
  leaseMs: number,
): Promise<ClaimedExecution[]> {
  return db.query(
    {
      name: 'execution_claim',
      text: `update executions e
             set status = 'running', fence = e.fence + 1, attempts = e.attempts + 1,
                 due_at = now() + $2 * interval '1 millisecond'
             from (select account_id, id, fence from executions
                   where status in ('queued', 'running') and due_at <= now()
                   order by due_at limit $1 for update skip locked) due
             where e.account_id = due.account_id and e.id = due.id and ${forceKeyLookup('due.fence')}
             returning e.account_id, e.id, e.type, e.product_id, e.iccid, e.input, e.progress, e.attempts, e.fence`,
    },
    [count, leaseMs],
  );
}

const held = `account_id = $1 and id = $2 and fence = $3 and status = 'running'`;

function handle({ account_id, id, fence }: ClaimedExecution): unknown[] {
  return [account_id, id, fence];
}

export type RecoveryPoint = { execution: ClaimedExecution; progress: object; leaseMs: number };

/**
 * Recovery points: what a step returned, before the next step; each also renews its lease. Tells of each, in their order,
 * whether the execution is still ours.
 */
export async function saveProgressRows(db: Queryable, points: RecoveryPoint[]): Promise<boolean[]> {
  const saved = await db.query<{ n: number }>(
    {
      name: 'execution_progress',
      text: `
with given as (
  select * from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::integer[]) with ordinality
    as g (account_id, id, fence, progress, lease_ms, n)
)
update executions e set progress = e.progress || given.progress::jsonb,
  due_at = now() + given.lease_ms * interval '1 millisecond'
from given
where e.account_id = given.account_id and e.id = given.id and e.fence = given.fence and ${statusWithoutPartialIndex('e.status', 'running')}
  and ${forceKeyLookup('given.fence')}
returning given.n::integer`,
    },
    [
      uuids(points.map(({ execution }) => execution.account_id)),
      uuids(points.map(({ execution }) => execution.id)),
      integers(points.map(({ execution }) => execution.fence)),
      texts(points.map(({ progress }) => JSON.stringify(progress))),
      integers(points.map(({ leaseMs }) => leaseMs)),
    ],
  );
  const held = new Set(saved.map(({ n }) => n));
  return points.map((_, index) => held.has(index + 1));
}

/** Sets it due again later, and adds to what is remembered of it. */
export async function postpone(
  db: Queryable,
  execution: ClaimedExecution,
  delayMs: number,
  progress: object,
): Promise<void> {
  await db.query(
    {
      name: 'execution_postpone',
      text: `update executions set due_at = now() + $4 * interval '1 millisecond', progress = progress || $5 where ${held}`,
    },
    [...handle(execution), delayMs, JSON.stringify({ ...progress, postponed_fence: execution.fence })],
  );
}

/**
 * Makes every claimed execution due now. Only while no worker runs: then each claim is one of a process that has died. What
 * waits for its next attempt keeps its pause; it was postponed under the fence that it still has.
 */
export async function freeAbandonedExecutions(db: Queryable): Promise<number> {
  const freed = await db.query({
    name: 'execution_free_abandoned',
    text: `update executions
           set due_at = now(), fence = fence + 1
           where status = 'running' and due_at > now()
             and (progress ->> 'postponed_fence')::integer is distinct from fence
           returning 1`,
  });
  return freed.length;
}

/** Gives a claim back unused, as if it had never been made. */
export async function releaseClaim(db: Queryable, execution: ClaimedExecution): Promise<void> {
  await db.query(
    {
      name: 'execution_release',
      text: `update executions set due_at = now(), status = 'queued', attempts = attempts - 1 where ${held}`,
    },
    handle(execution),
  );
}

/** Ends an execution and forgets its secret, in the transaction of what it did. False: another worker has taken it over, and nothing may be written. */
export async function finish(
  tx: Queryable,
  execution: ClaimedExecution,
  end: { error: ExecutionError | null; at: Date },
): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'execution_finish',
      text: `update executions set status = case when $4::jsonb is null then 'succeeded' else 'failed' end, error = $4,
                    finished_at = $5, input = input - 'sealed_confirmation_code'
             where ${held} returning 1`,
    },
    [...handle(execution), end.error && JSON.stringify(end.error), end.at],
  );
  return rows.length > 0;
}

/** Whether another change of this eSIM is under way; asked under the eSIM's lock. */
export async function findOpenChange(
  tx: Queryable,
  iccid: string,
): Promise<{ id: string; type: ExecutionType } | null> {
  const [row] = await tx.query<{ id: string; type: ExecutionType }>(
    {
      name: 'execution_open_change',
      text: `select id, type from executions
             where iccid = $1 and status in ('queued', 'running') and type in ('esim.suspend', 'esim.resume', 'esim.terminate')
             limit 1`,
    },
    [iccid],
  );
  return row ?? null;
}

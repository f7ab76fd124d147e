import type { ExecutionStatus } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';
import type { Claim } from '../idempotency/claim.ts';
import type { Answer, StoredAnswer } from '../idempotency/outcome.ts';

export type ExecutionRow = {
  id: string;
  type: 'esim.provision';
  status: ExecutionStatus;
  product_id: string | null;
  iccid: string | null;
  error: { code: string; message: string; retryable: boolean } | null;
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

// Above every UUIDv7: where a list begins. A null test instead would cost the index range in a generic plan.
const beforeFirst = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

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
  type: 'esim.provision';
  productId: string;
  input: object;
  createdAt: Date;
  claim: Claim | null;
  answer: Answer;
};

export type AcceptRow =
  | ({ id: string; outcome: 'stored' } & StoredAnswer)
  | {
      id: string;
      outcome: 'accepted' | 'in_progress' | 'overtaken' | 'product_missing' | 'product_inactive';
    };

/**
 * Accepts orders in one statement: lock the idempotency key, look it up, check the product, write the execution and
 * the stored answer. It takes many rows at once; a batch must not hold one (account, key) twice.
 *
 * The statement's snapshot may be older than a lock it gets: then the key was stored by a transaction that has just
 * committed, the insert meets its row and does nothing, and the row is `overtaken`: asking again sees it.
 */
export function acceptExecutionRows(db: Queryable, rows: NewExecution[]): Promise<AcceptRow[]> {
  return db.query(accept, [
    rows.map((row) => row.accountUuid),
    rows.map((row) => row.uuid),
    rows.map((row) => row.type),
    rows.map((row) => row.productId),
    rows.map((row) => JSON.stringify(row.input)),
    rows.map((row) => row.createdAt),
    rows.map((row) => row.claim?.key ?? null),
    rows.map((row) => row.claim?.fingerprint ?? null),
    rows.map((row) => row.claim?.lockId ?? null),
    rows.map((row) => row.claim?.expiresAt ?? null),
    rows.map((row) => row.answer.status),
    rows.map((row) => row.answer.location),
    rows.map((row) => row.answer.body),
  ]);
}

const accept = {
  name: 'execution_accept',
  text: `
with given as (
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::jsonb[], $6::timestamptz[], $7::text[],
                       $8::bytea[], $9::bigint[], $10::timestamptz[], $11::smallint[], $12::text[], $13::text[])
    as g (account_id, id, type, product_id, input, created_at, key, fingerprint, lock_id, expires_at, status, location, body)
), locked as materialized (
  select given.*, key is null or pg_try_advisory_xact_lock(lock_id) as locked from given
), checked as materialized (
  select locked.*, product.active, stored.fingerprint as stored_fingerprint, stored.status as stored_status,
         stored.location as stored_location, stored.body as stored_body
  from locked
  left join products product on product.id = locked.product_id
  left join idempotency_keys stored on locked.locked and stored.account_id = locked.account_id
    and stored.key = locked.key and stored.expires_at > locked.created_at
), claimed as (
  insert into idempotency_keys as k (account_id, key, fingerprint, status, location, body, created_at, expires_at)
  select account_id, key, fingerprint, status, location, body, created_at, expires_at from checked
  where key is not null and locked and stored_status is null and active
  order by account_id, key
  on conflict (account_id, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
    location = excluded.location, body = excluded.body, created_at = excluded.created_at, expires_at = excluded.expires_at
    where k.expires_at <= excluded.created_at
  returning account_id, key
), accepted as (
  insert into executions (account_id, id, type, status, product_id, input, created_at)
  select account_id, id, type, 'queued', product_id, input, created_at from checked
  where active and (key is null or exists (
    select from claimed where claimed.account_id = checked.account_id and claimed.key = checked.key))
  returning id
)
select id,
       case when not locked then 'in_progress'
            when stored_status is not null then 'stored'
            when active is null then 'product_missing'
            when not active then 'product_inactive'
            when exists (select from accepted where accepted.id = checked.id) then 'accepted'
            else 'overtaken' end as outcome,
       stored_fingerprint as fingerprint, stored_status as status, stored_location as location, stored_body as body
from checked`,
};

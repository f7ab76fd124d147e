import type { AuditActorType, AuditWay, ExecutionType } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import type { Claim } from '../../../platform/idempotency/claim.ts';
import type { Answer, StoredAnswer } from '../../../platform/idempotency/outcome.ts';
import { tryLockKey } from '../../../platform/idempotency/try-lock-key.ts';
import { dueAt } from '../sql-parts.ts';

export type NewExecution = {
  accountUuid: string;
  uuid: string;
  type: ExecutionType;
  productId: string;
  input: object;
  createdAt: Date;
  claim: Claim | null;
  answer: Answer;
  audit: {
    actor: { type: AuditActorType; id: string | null; name: string | null };
    executionId: string;
    requestId: string | null;
    ip: string | null;
    via: AuditWay | null;
  };
};

export type AcceptRow =
  | ({ outcome: 'stored' } & StoredAnswer)
  | { outcome: 'accepted' | 'in_progress' | 'overtaken' | 'product_missing' | 'product_inactive' };

/**
 * Accepts orders in one statement, and returns one outcome per row, in input order. Each (account, key) may occur only once in
 * the input. Accepted orders of the same key from the same address share an audit entry, which lists them if there are several;
 * one entry for each would be most of the work, and the ids of their requests cost 6 % of it.
 *
 * The statement's snapshot may be older than a lock it acquires. If a transaction that committed in between stored the key, the
 * insert conflicts and does nothing, and the outcome is `overtaken`: a second call sees the stored row.
 */
export async function acceptExecutionRows(db: Queryable, rows: NewExecution[]): Promise<AcceptRow[]> {
  const { grouped, origins } = groupByOrigin(rows);
  const values = [...given.values(grouped), ...givenOrigins.values(origins)];
  const others = await db.query<{ n: number } & AcceptRow>(accept, values);
  const results: AcceptRow[] = rows.map(() => accepted);
  for (const { n, ...result } of others) results[n - 1] = result;
  return results;
}

const accepted: AcceptRow = { outcome: 'accepted' };

type Grouped = { row: NewExecution; origin: number };

/** Numbers, from 1, the keys and addresses that the orders come from. `origins` has the first order of each. */
function groupByOrigin(rows: NewExecution[]): { grouped: Grouped[]; origins: NewExecution[] } {
  const numbers = new Map<string, number>();
  const origins: NewExecution[] = [];
  const grouped = rows.map((row) => {
    const { actor, ip, via } = row.audit;
    const name = `${row.accountUuid} ${actor.id} ${ip} ${via}`;
    const origin = numbers.get(name) ?? origins.push(row);
    if (origin > numbers.size) numbers.set(name, origin);
    return { row, origin };
  });
  return { grouped, origins };
}

const given = rowsOf<Grouped>({
  account_id: column.uuid(({ row }) => row.accountUuid),
  id: column.uuid(({ row }) => row.uuid),
  product_id: column.text(({ row }) => row.productId),
  input: column.text(({ row }) => JSON.stringify(row.input)),
  created_at: column.timestamptz(({ row }) => row.createdAt),
  key: column.text(({ row }) => row.claim?.key ?? null),
  fingerprint: column.bytea(({ row }) => row.claim?.fingerprint ?? null),
  expires_at: column.timestamptz(({ row }) => row.claim?.expiresAt ?? null),
  status: column.integer(({ row }) => row.answer.status),
  location: column.text(({ row }) => row.answer.location),
  body: column.text(({ row }) => row.answer.body),
  execution_id: column.text(({ row }) => row.audit.executionId),
  request_id: column.text(({ row }) => row.audit.requestId),
  origin: column.integer(({ origin }) => origin),
});

const givenOrigins = rowsOf<NewExecution>(
  {
    account_id: column.uuid((row) => row.accountUuid),
    actor_type: column.text((row) => row.audit.actor.type),
    actor_id: column.text((row) => row.audit.actor.id),
    actor_name: column.text((row) => row.audit.actor.name),
    ip: column.text((row) => row.audit.ip),
    via: column.text((row) => row.audit.via),
  },
  given.next,
);

// Returns only rows that were not accepted: reading a result row for each accepted order took as long as validating its body.
//
// An answer stored before is looked up for those rows only: the insert has found out which they are.
//
// The look-ups are laterals with `offset 0`. As plain joins, a plan cached while the database was empty scanned whole tables,
// and accepting fell below 100 orders a second as the tables grew.
const accept = {
  name: 'execution_accept',
  text: `
with checked as materialized (
  -- Tries to lock each key, which fails if another transaction has the lock, and finds the product and its price.
  select given.*, key is null or ${tryLockKey('account_id', 'key')} as locked, product.active, product.price
  from ${given.table} given
  left join lateral (
    select active, jsonb_build_object('amount', price_amount, 'currency', price_currency) as price
    from products p
    where p.id = given.product_id
    offset 0
  ) product on true
), claimed as (
  -- Stores the answer under its key, unless there is one that has not expired.
  insert into idempotency_keys as k (account_id, key, fingerprint, status, location, body, created_at, expires_at)
  select account_id, key, fingerprint, status, location, body, created_at, expires_at
  from checked
  where key is not null and locked and active
  order by account_id, key
  on conflict (account_id, key) do update
  set fingerprint = excluded.fingerprint,
      status = excluded.status,
      location = excluded.location,
      body = excluded.body,
      created_at = excluded.created_at,
      expires_at = excluded.expires_at,
      is_sealed = false
  where k.expires_at <= excluded.created_at
  returning account_id, key
), accepted as (
  insert into execution_queue (account_id, id, type, product_id, input, created_at, due_at)
  select account_id, id, 'esim.provision', product_id, input::jsonb || jsonb_build_object('price', price), created_at, ${dueAt('product_id')}
  from checked
  where active and (key is null or (account_id, key) in (select account_id, key from claimed))
  returning id
), told as (
  -- What the audit log tells of: the accepted orders of each origin.
  select
    origin,
    array_agg(id order by id) as orders,
    min(execution_id collate "C") as first_id,
    (array_agg(request_id order by id))[1] as request_id,
    min(created_at) as created_at
  from checked
  where id in (select id from accepted)
  group by origin
), audited as (
  -- An entry has the id of its first order, so that it can be found from each of them.
  insert into audit_log
    (account_id, id, actor_type, actor_id, actor_name, action, target_type, target_id, orders, request_id,
     ip, via, created_at)
  select
    origins.account_id,
    orders[1],
    actor_type,
    actor_id,
    actor_name,
    'esim.ordered',
    'execution',
    first_id,
    case when cardinality(orders) > 1 then orders end,
    request_id,
    ip,
    via,
    created_at
  from told
  join ${givenOrigins.table} origins on origins.n = told.origin
)
select
  n::integer,
  case
    when not locked then 'in_progress'
    when stored.status is not null then 'stored'
    when active is null then 'product_missing'
    when not active then 'product_inactive'
    else 'overtaken'
  end as outcome,
  stored.fingerprint,
  stored.status,
  stored.location,
  stored.body
from checked
left join lateral (
  select k.fingerprint, k.status, k.location, k.body
  from idempotency_keys k
  where k.account_id = checked.account_id and k.key = checked.key and k.expires_at > checked.created_at
  offset 0
) stored on checked.locked
where id not in (select id from accepted)`,
};

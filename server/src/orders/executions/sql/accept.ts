import type { AuditActorType, AuditWay, ExecutionType } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import type { Claim } from '../../../platform/idempotency/claim.ts';
import {
  claimKeys,
  hasItsKey,
  type KeyedRow,
  locksKey,
  otherOutcomes,
} from '../../../platform/idempotency/keys-in-statement.ts';
import type { Answer } from '../../../platform/idempotency/outcome.ts';
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

export type AcceptRow = KeyedRow<'accepted' | 'product_missing' | 'product_inactive'>;

/**
 * Accepts orders in one statement, and returns one outcome per row, in input order. Each (account, key) may occur only once in
 * the input. Accepted orders of the same key from the same address share an audit entry, which lists them if there are several;
 * one entry for each would be most of the work, and the ids of their requests cost 6 % of it.
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

const refusals = `
    when active is null then 'product_missing'
    when not active then 'product_inactive'`;

// The look-ups are laterals with `offset 0`. As plain joins, a plan cached while the database was empty scanned whole tables,
// and accepting fell below 100 orders a second as the tables grew.
const accept = {
  name: 'execution_accept',
  text: `
with checked as materialized (
  -- Tries to lock each key, which fails if another transaction has the lock, and finds the product and its price.
  select given.*, ${locksKey} as locked, product.active, product.price
  from ${given.table} given
  left join lateral (
    select active, jsonb_build_object('amount', price_amount, 'currency', price_currency) as price
    from products p
    where p.id = given.product_id
    offset 0
  ) product on true
), ${claimKeys(' and active')}, accepted as (
  insert into execution_queue (account_id, id, type, product_id, input, created_at, due_at)
  select account_id, id, 'esim.provision', product_id, input::jsonb || jsonb_build_object('price', price), created_at, ${dueAt('product_id')}
  from checked
  where active and ${hasItsKey}
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
)${otherOutcomes('id in (select id from accepted)', refusals)}`,
};

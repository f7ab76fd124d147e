import type { AuditActorType, AuditWay, ExecutionType } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { type Columns, column, numberedRowsOf, rowsOf } from '../../../platform/db/rows.ts';
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
  /** Where it is run at once if it is accepted; null if a worker is to claim it. */
  seat: { holder: string; leaseMs: number; iccid: string | null } | null;
  audit: {
    actor: { type: AuditActorType; id: string | null; name: string | null };
    executionId: string;
    requestId: string | null;
    ip: string | null;
    via: AuditWay | null;
  };
};

/** What a worker needs of an order that was accepted with its lease, besides what was given. */
export type Lease = { id: string; profile_type: string | null };

export type AcceptRow =
  | { outcome: 'accepted'; lease: Lease | null }
  | KeyedRow<'product_missing' | 'product_inactive'>;

/**
 * Accepts orders in one statement, and returns one outcome per row, in input order. Each (account, key) may occur only once in
 * the input. Accepted orders of the same key from the same address share an audit entry, which lists them if there are several;
 * one entry for each would be most of the work, and the ids of their requests cost 6 % of it.
 */
export async function acceptExecutionRows(db: Queryable, rows: NewExecution[]): Promise<AcceptRow[]> {
  const { grouped, origins } = groupByOrigin(rows);
  const { statement, values } = rows.some(({ seat }) => seat !== null) ? acceptSeated : accept;
  const read = await db.query<{ n: number } & (KeyedRow | Seated)>(statement, values(grouped, origins));
  const results: AcceptRow[] = rows.map(() => accepted);
  for (const { n, ...row } of read) {
    results[n - 1] = row.outcome === 'seated' ? { outcome: 'accepted', lease: row } : row;
  }
  return results;
}

type Seated = { outcome: 'seated' } & Lease;

const accepted: AcceptRow = { outcome: 'accepted', lease: null };

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

const givenColumns = {
  account_id: column.uuid(({ row }) => row.accountUuid),
  id: column.uuid(({ row }) => row.uuid),
  product_id: column.text(({ row }) => row.productId),
  input_after_price: column.text(({ row }) => afterPrice(JSON.stringify(row.input))),
  created_at: column.timestamptz(({ row }) => row.createdAt),
  key: column.text(({ row }) => row.claim?.key ?? null),
  fingerprint: column.bytea(({ row }) => row.claim?.fingerprint ?? null),
  location: column.text(({ row }) => row.answer.location),
  body: column.text(({ row }) => row.answer.body),
  execution_id: column.text(({ row }) => row.audit.executionId),
  request_id: column.text(({ row }) => row.audit.requestId),
  origin: column.integer(({ origin }) => origin),
} satisfies Columns<Grouped>;

const seatColumns = {
  holder: column.uuid(({ row }) => row.seat?.holder ?? null),
  lease_ms: column.integer(({ row }) => row.seat?.leaseMs ?? null),
  iccid: column.text(({ row }) => row.seat?.iccid ?? null),
} satisfies Columns<Grouped>;

const originColumns = {
  account_id: column.uuid((row) => row.accountUuid),
  actor_type: column.text((row) => row.audit.actor.type),
  actor_id: column.text((row) => row.audit.actor.id),
  actor_name: column.text((row) => row.audit.actor.name),
  ip: column.text((row) => row.audit.ip),
  via: column.text((row) => row.audit.via),
} satisfies Columns<NewExecution>;

/** SQL for what is given: the orders, the status of their answers, and where they come from. */
type Given = { orders: string; status: string; of(number: string, name: keyof typeof originColumns): string };

const refusals = `
    when active is null then 'product_missing'
    when not active then 'product_inactive'`;

// The look-ups are laterals with `offset 0`. As plain joins, a plan cached while the database was empty scanned whole tables,
// and accepting fell below 100 orders a second as the tables grew.
const textWith = ({ orders, status, of }: Given, hasSeats: boolean) => `
with checked as materialized (
  -- Tries to lock each key, which fails if another transaction has the lock, and finds the product and its price.
  select given.*, ${status} as status, ${locksKey} as locked, product.*
  from ${orders} given
  left join lateral (
    select ${hasSeats ? 'profile_type, ' : ''}active, price_amount, price_currency
    from products p
    where p.id = given.product_id
    offset 0
  ) product on true
), ${claimKeys(' and active')}, accepted as (
  insert into execution_queue (account_id, id, type, product_id, input, created_at, due_at${hasSeats ? ', iccid, holder, leased_until, fence, attempts' : ''})
  select account_id, id, 'esim.provision', product_id, ${inputWithPrice}, created_at, ${dueAt('product_id')}${hasSeats ? leaseValues : ''}
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
    ${of('origin', 'account_id')},
    orders[1],
    ${of('origin', 'actor_type')},
    ${of('origin', 'actor_id')},
    ${of('origin', 'actor_name')},
    'esim.ordered',
    'execution',
    first_id,
    case when cardinality(orders) > 1 then orders end,
    request_id,
    ${of('origin', 'ip')},
    ${of('origin', 'via')},
    created_at
  from told
)${hasSeats ? withSeated(others) : others}`;

// Text, because joining JSON to JSON took PostgreSQL 0.7 of the 42 µs of an order longer.
const inputWithPrice = `('{"price":{"amount":' || price_amount || ',"currency":' || to_json(price_currency) || '}' || input_after_price)::jsonb`;

/** The text of a JSON object without its start, to follow a first field. */
function afterPrice(json: string): string {
  return json === '{}' ? '}' : `,${json.slice(1)}`;
}

const others = otherOutcomes('id in (select id from accepted)', refusals);

// As after a first claim.
const leaseValues = `,
    iccid, holder, now() + lease_ms * interval '1 millisecond', (holder is not null)::integer, (holder is not null)::integer`;

function withSeated(own: string): string {
  return `
select own.*, null::uuid as id, null as profile_type
from (${own}) own
union all
select n::integer, 'seated', null, null, null, null, id, profile_type
from checked
where holder is not null and id in (select id from accepted)`;
}

function statementWith(hasSeats: boolean) {
  const given = rowsOf<Grouped>({ ...givenColumns, ...(hasSeats && seatColumns) });
  const origins = numberedRowsOf(originColumns, given.next + 1);
  return {
    statement: {
      name: hasSeats ? 'execution_accept_seated' : 'execution_accept',
      text: textWith({ orders: given.table, status: `$${given.next}::integer`, of: origins.of }, hasSeats),
    },
    values: (rows: Grouped[], from: NewExecution[]) => [
      ...given.values(rows),
      rows[0]?.row.answer.status, // that of all accepted orders
      ...origins.values(from),
    ],
  };
}

const accept = statementWith(false);
const acceptSeated = statementWith(true);

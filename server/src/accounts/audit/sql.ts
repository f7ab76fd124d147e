import {
  type AuditAction,
  type AuditActorType,
  type AuditTargetType,
  type AuditWay,
  auditActions,
} from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { many, run } from '../../platform/db/statement.ts';
import { type CreatedRange, idRangeOf } from '../../platform/lists/created-range.ts';

export type EntryRow = {
  account_id: string | null;
  id: string;
  actor_type: AuditActorType;
  actor_id: string | null;
  actor_name: string | null;
  action: AuditAction;
  target_type: AuditTargetType;
  target_id: string;
  changes: Record<string, unknown> | null;
  request_id: string | null;
  ip: string | null;
  via: AuditWay | null;
  /** Orders that were accepted together; null unless there are several. */
  orders: string[] | null;
};

const entryColumns = `account_id, id, actor_type, actor_id, actor_name, action, target_type, target_id, changes, request_id, ip, via, orders`;

type NewEntry = {
  accountUuid: string | null;
  uuid: string;
  actorType: AuditActorType;
  actorId: string | null;
  actorName: string | null;
  action: AuditAction;
  target: { type: AuditTargetType; id: string };
  /** JSON. */
  changes: string | null;
  requestId: string | null;
  ip: string | null;
  via: AuditWay | null;
  createdAt: Date;
};

export const insertEntry = run<[entry: NewEntry]>('audit_insert', (entry) => [
  entry.accountUuid,
  entry.uuid,
  entry.actorType,
  entry.actorId,
  entry.actorName,
  entry.action,
  entry.target.type,
  entry.target.id,
  entry.changes,
  entry.requestId,
  entry.ip,
  entry.via,
  entry.createdAt,
])`
insert into audit_log
  (account_id, id, actor_type, actor_id, actor_name, action, target_type, target_id, changes, request_id, ip, via, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;

// How many entries before an order are searched for it, nearest first. Usually it is in the first few.
const mostEntries = 5_000;

/** The uuid of the execution that ordered an eSIM; null if there is no such eSIM. */
export async function findOrderOfEsim(
  db: Queryable,
  accountUuid: string | undefined,
  iccid: string,
): Promise<string | null> {
  const { name, account, values } = within('audit_esim_order', accountUuid, [iccid]);
  const [row] = await db.query<{ id: string }>(
    {
      name,
      text: `
select execution_id as id
from esims
where ${account} iccid = $1
union all
select id
from execution_queue
where ${account} iccid = $1 and type = 'esim.provision'`,
    },
    values,
  );
  return row?.id ?? null;
}

/** The batch that the order belongs to, or null. */
export async function findBatchOfOrder(
  db: Queryable,
  accountUuid: string | undefined,
  uuid: string,
): Promise<string | null> {
  const { name, account, values } = within('audit_order_batch', accountUuid, [uuid]);
  const from = (table: string) =>
    `select input ->> 'batch_id' as id from ${table} where ${account} id = $1 and input ->> 'batch_id' is not null`;
  const text = `${from('executions')} union all ${from('execution_queue')}`;
  const [row] = await db.query<{ id: string }>({ name, text }, values);
  return row?.id ?? null;
}

/** The target of the entry that lists this order among others, from `fromUuid` on; null if there is none. */
export async function findSharedEntry(
  db: Queryable,
  accountUuid: string | undefined,
  order: { uuid: string; fromUuid: string },
): Promise<string | null> {
  const given = [order.uuid, order.fromUuid, mostEntries];
  const { name, account, values } = within('audit_shared_entry', accountUuid, given);
  const [row] = await db.query<{ target_id: string }>(
    {
      name,
      // The id of an entry is that of its first order, so it is not after this order's.
      text: `
select target_id
from (
  select target_id, orders
  from audit_log
  where ${account} (action, id) <= ('esim.ordered', $1)
    and (action, id) >= ('esim.ordered', $2)
  order by action desc, id desc
  limit $3
  offset 0
) nearby
where $1::uuid = any(orders)
limit 1`,
    },
    values,
  );
  return row?.target_id ?? null;
}

function within(name: string, accountUuid: string | undefined, given: unknown[]) {
  if (accountUuid === undefined) return { name: `${name}_of_all`, account: '', values: given };
  return { name, account: `account_id = $${given.length + 1} and`, values: [...given, accountUuid] };
}

export type EntryFilter = {
  actor?: string | undefined;
  action?: AuditAction | undefined;
  target?: string | undefined;
  /** Targets whose entries about orders tell of the target too. */
  orders?: string[] | undefined;
  created?: CreatedRange | undefined;
};
type Page = { beforeUuid: string | null; count: number };

/** The actor as an account sees it: operators and the command line are all `operator`. So are strangers in the index, but not in lists. */
const accountActor = `case when actor_type = 'api_key' then actor_id else 'operator' end`;
const anyActor = 'coalesce(actor_id, actor_type)';

/** The entries of one account, as it sees them. */
export function listAccountEntries(
  db: Queryable,
  accountUuid: string,
  filter: EntryFilter,
  page: Page,
): Promise<EntryRow[]> {
  const statement = start('audit_list', filter, page);
  const account = `account_id = ${statement.parameter(accountUuid)} and`;
  if (filter.actor !== undefined) statement.conditions.push(`and actor_type <> 'anonymous'`);
  return read(db, statement, { account, actor: accountActor, actors: [filter.actor] });
}

/** The entries of all accounts, or of one, as the operator sees them. */
export function listAllEntries(
  db: Queryable,
  accountUuid: string | undefined,
  filter: EntryFilter,
  page: Page,
): Promise<EntryRow[]> {
  if (accountUuid === undefined) {
    const statement = start('audit_list_all', filter, page);
    return read(db, statement, { account: '', actor: anyActor, actors: [filter.actor] });
  }
  const statement = start('audit_list_of_account', filter, page);
  const account = `account_id = ${statement.parameter(accountUuid)} and`;
  if (filter.actor !== undefined) {
    statement.conditions.push(`and ${unindexed(anyActor)} = ${statement.parameter(filter.actor)}`);
  }
  // The account's index has all of its operators as `operator`.
  return read(db, statement, { account, actor: accountActor, actors: [filter.actor, 'operator'] });
}

/**
 * Equal to the value. The range, which says the same, makes it so rare for the planner that only the expression's own index fits.
 * Before PostgreSQL 18, a scan ends at the first column of a row comparison only, so this one is not part of it.
 */
const pinned = (expression: string, value: string) =>
  `${expression} = ${value} and ${expression} between ${value} and ${value} and`;

/** Hides the expression's index from the planner, so that it only filters what the chosen index returns. */
const unindexed = (expression: string) => `(${expression}) || ''`;

type Statement = {
  name: string;
  filter: EntryFilter;
  values: unknown[];
  parameter(value: unknown): string;
  conditions: string[];
};
type View = { account: string; actor: string; actors: (string | undefined)[] };

function start(name: string, filter: EntryFilter, page: Page): Statement {
  const { fromUuid, beforeUuid } = idRangeOf(filter.created, page.beforeUuid);
  const values: unknown[] = [beforeUuid, fromUuid, page.count];
  return { name, filter, values, parameter: (value) => `$${values.push(value)}`, conditions: [] };
}

/**
 * Newest first. Each set of filters is a separate statement, whose order fits one index only. A target has few entries, so its
 * index comes first. An account as target has many (one per view), so there the index of another filter is better.
 */
function read(db: Queryable, statement: Statement, { account, actor, actors }: View): Promise<EntryRow[]> {
  const { filter, values, parameter, conditions } = statement;
  const { action, target, orders = [] } = filter;
  const isRare = target !== undefined && !target.startsWith('acct_');
  const hasOther = filter.actor !== undefined || action !== undefined;
  const name = [
    statement.name,
    filter.actor !== undefined && 'actor',
    action !== undefined && 'action',
    target !== undefined && (isRare ? 'target' : 'account_target'),
    orders.length > 0 && 'orders',
  ];
  const use = (from: string, columns: string[], wanted: string[], first = '') => {
    const text = pageOf(from, columns, wanted, { bound: `${account} ${first}`, conditions });
    return db.query<EntryRow>({ name: name.filter(Boolean).join('_'), text }, values);
  };
  if (target !== undefined && (isRare || !hasOther)) {
    if (filter.actor !== undefined) {
      conditions.push(`and ${unindexed(actor)} = any(${parameter(actors)}::text[])`);
    }
    if (action !== undefined) conditions.push(`and ${unindexed('action')} = ${parameter(action)}`);
    if (orders.length === 0) return use('', ['target_id'], [parameter(target)]);
    const isOrder = `${unindexed('action')} in ('esim.ordered', 'batch.created', 'batch.install_profiles_viewed')`;
    conditions.push(`and (wanted.target = ${parameter(target)} or ${isOrder})`);
    const wanted = `unnest(${parameter([target, ...orders])}::text[]) as wanted (target)`;
    return use(wanted, ['target_id'], ['wanted.target']);
  }
  if (target !== undefined) conditions.push(`and ${unindexed('target_id')} = ${parameter(target)}`);
  if (filter.actor !== undefined) {
    const actions = action === undefined ? auditActions : [action];
    const wanted = `unnest(${parameter(actors)}::text[]) as wanted_actor (actor)
cross join unnest(${parameter(actions)}::text[]) as wanted_action (action)`;
    return use(wanted, ['action'], ['wanted_action.action'], pinned(actor, 'wanted_actor.actor'));
  }
  if (action !== undefined) return use('', ['action'], [parameter(action)]);
  return use('', [], []);
}

/** A page of each combination of wanted values, merged. Row comparisons, so that only the index with these columns fits. */
function pageOf(
  wantedRows: string,
  columns: string[],
  wanted: string[],
  { bound, conditions }: { bound: string; conditions: string[] },
): string {
  const row = [...columns, 'id'];
  const page = `
select ${entryColumns}
from audit_log
where ${bound} (${row.join(', ')}) < (${[...wanted, '$1'].join(', ')})
  and (${row.join(', ')}) >= (${[...wanted, '$2'].join(', ')})
  ${conditions.join(' ')}
order by ${row.map((column) => `${column} desc`).join(', ')}
limit $3`;
  if (wantedRows === '') return page;
  return `
select one.*
from ${wantedRows}
cross join lateral (${page}) one
order by one.id desc
limit $3`;
}

type Ordered = { execution_id: string; request_id: string };
type OfEsim = {
  accountUuid: string;
  iccid: string;
  executionIds: string[];
  fromUuid: string;
  untilUuid: string;
};

// An eSIM has few orders, but its activation code may be looked at any number of times.
const entriesLookedAt = 1_000;

/** The requests that ordered these executions of an eSIM, as far as they are known. */
export const listOrderRequests = many<Ordered, [esim: OfEsim]>('audit_order_requests', (esim) => [
  esim.accountUuid,
  esim.iccid,
  esim.executionIds,
  esim.fromUuid,
  esim.untilUuid,
])`
select target_id as execution_id, request_id
from audit_log
where account_id = $1 and target_id = any($3::text[]) and action = 'esim.ordered' and request_id is not null
union all
select changes ->> 'execution_id', request_id
from (
  select changes, request_id
  from audit_log
  where account_id = $1 and target_id = $2 and id >= $4 and id < $5
  order by id desc
  limit ${entriesLookedAt}
) told
where changes ->> 'execution_id' = any($3::text[]) and request_id is not null`;

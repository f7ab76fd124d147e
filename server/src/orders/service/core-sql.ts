import type { Refusal } from '../../network/port.ts';
import { exists, many, one, run } from '../../platform/db/statement.ts';
import type { PendingChange } from './served-esim.ts';
import type { ServiceContent } from './service-of.ts';

/** The state of an eSIM that a worker sends to the core. */
export type QueuedService = {
  account_id: string;
  iccid: string;
  version: number;
  service: ServiceContent;
  failures: number;
};

type Wanted = {
  count: number;
  holder: string;
  leaseMs: number;
  /** Accounts after this one come first. */
  afterAccount: string;
  /** Accounts that have enough in flight. */
  exceptAccounts: readonly string[];
};

/**
 * Claims due states, some of each account in turn, so that an account with many does not hold up the others. A lease that has ended
 * is claimed again: the core deduplicates by version.
 */
export const claimServices = many<QueuedService, [wanted: Wanted]>(
  'core_queue_claim',
  ({ count, holder, leaseMs, afterAccount, exceptAccounts }) => [
    count,
    leaseMs,
    afterAccount,
    exceptAccounts,
    Math.ceil(count / 4),
    holder,
  ],
)`
with recursive account as (
  (select account_id as id
    from core_queue
    where not is_refused and account_id > $3
    order by account_id
    limit 1)
  union all
  select next.id
  from account
  cross join lateral (
    select account_id as id
    from core_queue
    where not is_refused and account_id > account.id
    order by account_id
    limit 1
  ) next
), due as materialized (
  select first.ctid as place
  from account
  cross join lateral (
    select ctid
    from core_queue
    where account_id = account.id
      and not is_refused
      and due_at <= now()
      and (leased_until is null or leased_until <= now())
    order by due_at
    limit $5
    for update skip locked
  ) first
  where account.id <> all($4::uuid[])
  limit $1
)
update core_queue q
set leased_until = now() + $2::integer * interval '1 millisecond',
    holder = $6
from unnest(array(select place from due)) as due (place)
where q.ctid = due.place
returning q.account_id, q.iccid, q.version, q.service, q.failures`;

type Key = Pick<QueuedService, 'account_id' | 'iccid' | 'version'>;

const keyOf = ({ account_id, iccid, version }: Key) => [account_id, iccid, version];

/** Locks the eSIM, as everything that writes its service, its row in the queue or its changes does first. */
export const lockServed = one<{ pending_change: PendingChange | null }, [key: Key]>(
  'core_queue_lock_esim',
  ({ account_id, iccid }) => [account_id, iccid],
)`
select pending_change
from esims
where account_id = $1 and iccid = $2
for update`;

/** Stores that the core has this version, and removes it from the queue unless a newer one is there. */
export const storeApplied = exists<[key: Key, at: Date]>('core_queue_applied', (key, at) => [
  ...keyOf(key),
  at,
])`
with dequeued as (
  delete from core_queue
  where account_id = $1 and iccid = $2 and version = $3
)
update esims
set applied_version = $3,
    applied_at = $4
where account_id = $1 and iccid = $2 and coalesce(applied_version, 0) <= $3
returning 1`;

/** For a change that has ended. */
export const clearPendingChange = run<[key: Key]>('core_queue_clear_pending', ({ account_id, iccid }) => [
  account_id,
  iccid,
])`
update esims
set pending_change = null
where account_id = $1 and iccid = $2`;

/** Keeps a refused version, which is not sent again. A newer one is not affected. */
export const storeRefused = exists<[key: Key, reason: Refusal]>('core_queue_refused', (key, reason) => [
  ...keyOf(key),
  JSON.stringify(publicPart(reason)),
])`
update core_queue
set is_refused = true,
    error = $4,
    leased_until = null
where account_id = $1 and iccid = $2 and version = $3
returning 1`;

type Wait = { delayMs: number; reason: Refusal | null };

/** Ends the lease; the state is due again after the delay. A newer version is due already. */
export const postponeService = exists<[key: Key, wait: Wait]>('core_queue_postpone', (key, wait) => [
  ...keyOf(key),
  Math.ceil(wait.delayMs),
  wait.reason && JSON.stringify(publicPart(wait.reason)),
])`
update core_queue
set due_at = now() + $4::integer * interval '1 millisecond',
    leased_until = null,
    failures = failures + case when $5::jsonb is null then 0 else 1 end,
    error = coalesce($5, error)
where account_id = $1 and iccid = $2 and version = $3 and not is_refused
returning 1`;

/** What an execution's error shows of it: no host and no setting. */
function publicPart({ code, message, upstream }: Refusal) {
  return { code, message, ...(upstream && { upstream }) };
}

export type QueuedServiceRow = QueuedService & {
  id: string;
  since: Date;
  due_at: Date;
  is_refused: boolean;
  error: { message: string } | null;
};

export const listQueuedServices = many<
  QueuedServiceRow,
  [isRefused: boolean, beforeUuid: string, count: number]
>('core_queue_list')`
select account_id, iccid, id, version, service, since, due_at, failures, error, is_refused
from core_queue
where is_refused = $1 and id < $2
order by id desc
limit $3`;

import { isHere } from '../../accounts/moves/is-here.ts';
import type { CoreMode } from '../../network/core-mode.ts';
import { emitFrom } from '../../notify/events/emit.ts';
import { forceKeyLookup } from '../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { count, many, value } from '../../platform/db/statement.ts';
import type { ExecutionError } from '../executions/runner.ts';
import { queueFrom } from './queue-from.ts';
import type { ServedEsim, ServiceRow } from './served-esim.ts';
import type { ServiceBundle } from './service-of.ts';

type EsimKey = { account_id: string; iccid: string };

const keys = rowsOf<EsimKey>({
  account_id: column.uuid((esim) => esim.account_id),
  iccid: column.text((esim) => esim.iccid),
});

/** The bundles of these eSIMs, oldest first. The caller holds the eSIMs' locks, which cover their bundles. */
export const readServiceBundles = many<ServiceBundle & { iccid: string }, [esims: readonly EsimKey[]]>(
  'service_read_bundles',
  keys.values,
)`
select
  iccid,
  id,
  status,
  -- As in bundles/sql.ts.
  coalesce(countries, (select countries from products where products.id = bundles.product_id)) as countries,
  expires_at,
  after_depletion
from bundles
join ${keys.table} given using (account_id, iccid)
order by id`;

const changed = rowsOf<ServiceRow>({
  account_id: column.uuid(({ esim }) => esim.account_id),
  id: column.uuid(({ esim }) => esim.id),
  iccid: column.text(({ esim }) => esim.iccid),
  service: column.text(({ content }) => JSON.stringify(content)),
  version: column.integer(({ version }) => version),
  ends_at: column.timestamptz(({ endsAt }) => endsAt),
  at: column.timestamptz(({ at }) => at),
  queue_id: column.uuid(({ uuid }) => uuid),
  event_id: column.uuid(({ event }) => event?.uuid ?? null),
  event_type: column.text(({ event }) => event?.type ?? null),
  event_at: column.timestamptz(({ event }) => event?.createdAt ?? null),
  event_body: column.text(({ event }) => event?.body ?? null),
  event_subscriptions: column.text(({ event }) => event?.subscriptions ?? null),
});

const textWith = (name: string, { applied = '', queued = '' }) => count<[rows: readonly ServiceRow[]]>(
  name,
  changed.values,
)`
with given as (
  select * from ${changed.table} given
), changed as (
  update esims
  set service = given.service::jsonb,
      service_version = given.version,
      service_changed_at = given.at,
      service_ends_at = given.ends_at${applied}
  from given
  where esims.account_id = given.account_id
    and esims.id = given.id
    and esims.service_version = given.version - 1
    and ${forceKeyLookup('given.version')}
  returning 1
)${queued}, told as (
  select * from given where event_id is not null
), ${emitFrom('told')}
select from changed`;

const writers: Record<CoreMode, ReturnType<typeof textWith>> = {
  state: textWith('service_write_queued', { queued: `, queued as (${queueFrom('given')}\n)` }),
  mock: textWith('service_write_applied', {
    applied: `,
      applied_version = given.version,
      applied_at = given.at`,
  }),
  commands: textWith('service_write', {}),
  none: textWith('service_write', {}),
};

/** Returns how many were written. */
export function writeServiceRows(core: CoreMode) {
  return writers[core];
}

/** Why the core refused this version or a newer one. */
export const findRefusal = value<
  Omit<ExecutionError, 'retryable'>,
  [accountUuid: string, iccid: string, version: number]
>('core_queue_refusal')`
select error
from core_queue
where account_id = $1 and iccid = $2 and version >= $3 and is_refused`;

export const servedColumns =
  'account_id, id, iccid, product_id, reference, status, resumes_to, country, service, service_version, pending_change';

/** Locks eSIMs whose state ends, and skips those that are locked: several processes can share the work. */
export const lockEsimsWithServiceEnd = many<ServedEsim, [now: Date, count: number]>('service_lock_ending')`
select ${servedColumns}
from esims
where service_ends_at <= $1 and ${isHere('esims.account_id')}
order by service_ends_at
limit $2
for update skip locked`;

import type { EsimStatus, ProfileError, ProfileState } from '@simplane/contract';
import { isElsewhere, isHere } from '../../../accounts/moves/is-here.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { one, run } from '../../../platform/db/statement.ts';
import type { PendingChange } from '../../service/served-esim.ts';
import type { ServiceContent } from '../../service/service-of.ts';
import { type EsimTransition, esimTransitions, sourcesOf } from '../state.ts';

export type EsimRow = {
  account_id: string;
  id: string;
  iccid: string;
  product_id: string;
  status: EsimStatus;
  resumes_to: 'provisioned' | 'active' | null;
  profile_state: ProfileState;
  profile_observed_at: Date | null;
  /** Of the state `error`. An older release that stored a later state has not removed it. */
  profile_error: ProfileError | null;
  country: string | null;
  country_observed_at: Date | null;
  uncovered_bytes: number;
  eid: string | null;
  /** The account's own name for the order. */
  reference: string | null;
  metadata: Record<string, string>;
  description: string | null;
  smdp_address: string | null;
  /** Sealed. Null until the eSIM is provisioned; until then the order has it. */
  matching_id: string | null;
  confirmation_code_required: boolean;
  created_at: Date;
  provisioned_at: Date | null;
  execution_id: string;
  /** What the network should let it do; null until it is calculated for the first time. */
  service: ServiceContent | null;
  service_version: number;
  service_changed_at: Date | null;
  applied_version: number | null;
  applied_at: Date | null;
  pending_change: PendingChange | null;
  /** The order is open: the eSIM is the order's row in the queue, and gets its own row when the order ends. */
  is_queued: boolean;
  /** Nothing personal is written to it any more. */
  erased_at: Date | null;
};

export const esimColumns = `account_id, id, iccid, product_id, status, resumes_to, profile_state, profile_observed_at,
  profile_error, country, country_observed_at, uncovered_bytes, eid, reference, metadata, description, smdp_address, matching_id,
  confirmation_code_required, created_at,
  provisioned_at, execution_id, service, service_version, service_changed_at, applied_version, applied_at, pending_change,
  false as is_queued, erased_at`;

/** Of an eSIM in the queue. */
export const queuedEid = `coalesce(observed ->> 'eid', input ->> 'eid')`;
export const queuedReference = `input ->> 'reference'`;
export const queuedMetadata = `coalesce(input -> 'metadata', '{}')`;

/** `EsimRow` from the queue. */
export const queuedColumns = `account_id, id, iccid, product_id, 'provisioning' as status, null as resumes_to,
  coalesce(observed ->> 'profile_state', 'unknown') as profile_state,
  (observed ->> 'profile_observed_at')::timestamptz as profile_observed_at,
  nullif(observed -> 'profile_error', 'null') as profile_error, observed ->> 'country' as country,
  (observed ->> 'country_observed_at')::timestamptz as country_observed_at, 0::bigint as uncovered_bytes,
  ${queuedEid} as eid, ${queuedReference} as reference, ${queuedMetadata} as metadata,
  input ->> 'description' as description, null as smdp_address, null as matching_id, false as confirmation_code_required,
  created_at, null::timestamptz as provisioned_at, id as execution_id, null::jsonb as service, 0 as service_version,
  null::timestamptz as service_changed_at, null::integer as applied_version, null::timestamptz as applied_at,
  null::jsonb as pending_change, true as is_queued, null::timestamptz as erased_at`;

/** Queue rows that represent an eSIM. A terminated eSIM already has its own row. */
export const isQueuedEsim = `type = 'esim.provision' and iccid is not null and not is_terminated`;

/** One statement, so one snapshot: an eSIM that moves out of the queue meanwhile is still found once. */
export const findEsim = one<EsimRow, [accountUuid: string, iccid: string]>('esim_find')`
select ${esimColumns}
from esims
where account_id = $1 and iccid = $2
union all
select ${queuedColumns}
from execution_queue
where account_id = $1 and iccid = $2 and ${isQueuedEsim}`;

/** Neither here nor elsewhere is one that is about to leave. */
type Owner = { accountUuid: string; isHere: boolean; isElsewhere: boolean };

/** The account of an ICCID, which never changes. Networks report by ICCID alone. */
export const findOwner = one<Owner, [iccid: string]>('esim_owner')`
select account_id as "accountUuid", ${isHere('esims.account_id')} as "isHere", ${isElsewhere('esims.account_id')} as "isElsewhere"
from esims
where iccid = $1
union all
select account_id, ${isHere('execution_queue.account_id')}, ${isElsewhere('execution_queue.account_id')}
from execution_queue
where iccid = $1 and ${isQueuedEsim}`;

type Order = { uuid: string; progress: Record<string, unknown> };

/** The order of an eSIM with its progress. */
export const findOrder = one<Order, [esim: Pick<EsimRow, 'account_id' | 'execution_id'>]>(
  'esim_order',
  ({ account_id, execution_id }) => [account_id, execution_id],
)`
select id as uuid, progress
from execution_queue
where account_id = $1 and id = $2
union all
select id, progress
from executions
where account_id = $1 and id = $2`;

const lockStored = one<EsimRow, [accountUuid: string, iccid: string]>('esim_lock')`
select ${esimColumns}
from esims
where account_id = $1 and iccid = $2
for update`;

const lockQueued = one<EsimRow, [accountUuid: string, iccid: string]>('esim_lock_queued')`
select ${queuedColumns}
from execution_queue
where account_id = $1 and iccid = $2 and ${isQueuedEsim}
for update`;

/**
 * Locks the eSIM until the transaction ends, which serializes changes to it and its bundles. If its order is open, locks the
 * order's row in the queue; if the order ends meanwhile, the eSIM has moved to its own row.
 */
export async function lockEsim(tx: Queryable, accountUuid: string, iccid: string): Promise<EsimRow | null> {
  for (const lock of [lockStored, lockQueued, lockStored]) {
    const row = await lock(tx, accountUuid, iccid);
    if (row) return row;
  }
  return null;
}

/** Returns null if the eSIM's status does not allow the change. */
export function changeStatus(
  tx: Queryable,
  { account_id, iccid }: Pick<EsimRow, 'account_id' | 'iccid'>,
  transition: EsimTransition,
  /** The time of a termination. */
  at: Date | null = null,
): Promise<EsimRow | null> {
  const { to } = esimTransitions[transition];
  const isEnd = transition === 'terminate';
  return one<EsimRow, unknown[]>(`esim_${transition}`)`
update esims
set status = ${to === null ? 'resumes_to' : `'${to}'`},
    resumes_to = ${transition === 'suspend' ? 'status' : 'null'}${isEnd ? ',\n    terminated_at = $4' : ''}
where account_id = $1 and iccid = $2 and status = any($3)
returning ${esimColumns}`(tx, account_id, iccid, sourcesOf(transition), ...(isEnd ? [at] : []));
}

const fieldsOf = (esim: EsimRow) => [
  esim.account_id,
  esim.id,
  JSON.stringify(esim.metadata),
  esim.description,
];

const updateStored = run<[esim: EsimRow]>('esim_update', fieldsOf)`
update esims
set metadata = $3,
    description = $4
where account_id = $1 and id = $2`;

// The eSIM gets its own row from the order's input, when the order ends.
const updateQueued = run<[esim: EsimRow]>('esim_update_queued', fieldsOf)`
update execution_queue
set input = input || jsonb_build_object('metadata', $3::jsonb, 'description', $4::text)
where account_id = $1 and id = $2`;

/** Stores metadata and description. The caller holds the eSIM's lock. */
export function updateEsimFields(tx: Queryable, esim: EsimRow): Promise<void> {
  return (esim.is_queued ? updateQueued : updateStored)(tx, esim);
}

/** The caller holds the eSIM's lock. */
export const setPendingChange = run<
  [esim: Pick<EsimRow, 'account_id' | 'id'>, pending: PendingChange | null]
>('esim_set_pending_change', ({ account_id, id }, pending) => [
  account_id,
  id,
  pending && JSON.stringify(pending),
])`
update esims
set pending_change = $3
where account_id = $1 and id = $2`;

import type { EsimStatus } from '@simplane/contract';

/**
 * The insert for the eSIMs of ended orders. `source` has the rows of `ended` from `endFrom`: account_id, execution_id, at and
 * the order's queue columns. An order without an ICCID gets no eSIM. A profile state reported by the network takes precedence
 * over ours, because it is newer.
 */
export function insertEsimFrom(source: string, status: EsimStatus): string {
  const isReady = status === 'provisioned';
  return `
  insert into esims (
    account_id, id, iccid, execution_id, product_id, status, profile_state, profile_observed_at, profile_error, country,
    country_observed_at, eid, metadata, description, created_at${isReady ? readyColumns : ''})
  select
    account_id,
    execution_id,
    queued_iccid,
    execution_id,
    queued_product_id,
    '${status}',
    coalesce(queued_observed ->> 'profile_state', '${isReady ? 'released' : 'unknown'}'),
    coalesce((queued_observed ->> 'profile_observed_at')::timestamptz, ${isReady ? 'at' : 'null'}),
    nullif(queued_observed -> 'profile_error', 'null'),
    queued_observed ->> 'country',
    (queued_observed ->> 'country_observed_at')::timestamptz,
    coalesce(queued_observed ->> 'eid', queued_input ->> 'eid'),
    coalesce(queued_input -> 'metadata', '{}'),
    queued_input ->> 'description',
    queued_at${isReady ? readyValues : ''}
  from ${source}
  where queued_iccid is not null`;
}

const readyColumns = ', smdp_address, matching_id, confirmation_code_required, provisioned_at';
const readyValues = `,
    smdp_address,
    matching_id,
    confirmation_code_required,
    at`;

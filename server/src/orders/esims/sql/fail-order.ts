import type { Queryable } from '../../../platform/db/database.ts';
import { endFrom } from '../../executions/end-from.ts';
import type { ExecutionError, Fenced } from '../../executions/worker.ts';
import { esimTransitions } from '../state.ts';
import { insertEsimFrom } from './insert-from.ts';

/** `noted` is added to the order's progress. */
type Failure = { error: ExecutionError; at: Date; noted: object };

/** Fails an order, and its eSIM if it has an ICCID. Returns false if the claim was lost. */
export async function failOrderRow(
  tx: Queryable,
  { account_id, id, fence }: Fenced,
  { error, at, noted }: Failure,
): Promise<boolean> {
  const rows = await tx.query(failOrder, [
    account_id,
    id,
    fence,
    JSON.stringify(error),
    at,
    JSON.stringify(noted),
  ]);
  return rows.length > 0;
}

const failOrder = {
  name: 'esim_fail_order',
  text: `
with given as (
  select $1::uuid as account_id, $2::uuid as execution_id, $3::integer as fence, $4::jsonb as error, $5::timestamptz as at,
    $6::jsonb as noted
), ${endFrom('given', { mayFail: true })}, esim as (${insertEsimFrom('ended', esimTransitions.fail.to)}
  -- A terminated eSIM stays terminated, and an ICCID of another eSIM is not ours.
  on conflict do nothing
)
select 1
from ended`,
};

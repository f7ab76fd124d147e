import type { Queryable } from '../../../platform/db/database.ts';
import { esimTransitions } from '../state.ts';
import { insertEsimFrom } from './insert-from.ts';
import { columns, type EsimRow } from './rows.ts';

/** Terminates an eSIM whose order is open: inserts its row, and the order can only be rolled back. The caller holds its lock. */
export async function terminateQueued(
  tx: Queryable,
  { account_id, id }: Pick<EsimRow, 'account_id' | 'id'>,
  at: Date,
): Promise<EsimRow | null> {
  const [row] = await tx.query<EsimRow>(
    {
      name: 'esim_terminate_queued',
      text: `
with marked as (
  update execution_queue
  set is_terminated = true
  where account_id = $1 and id = $2 and not is_terminated
  returning
    account_id,
    id as execution_id,
    iccid as queued_iccid,
    product_id as queued_product_id,
    input as queued_input,
    observed as queued_observed,
    created_at as queued_at,
    $3::timestamptz as at
)${insertEsimFrom('marked', esimTransitions.terminate.to)}
returning ${columns}`,
    },
    [account_id, id, at],
  );
  return row ?? null;
}

import type { Queryable } from '../../../platform/db/database.ts';
import { endFrom } from '../end-from.ts';
import type { ExecutionError, Fenced } from './rows.ts';

/** `noted` is added to the progress of a failed execution. */
type End = { error: ExecutionError | null; at: Date; noted?: object };

/** Ends an execution in the transaction of its changes. If false, another worker has claimed it, and nothing may be written. */
export async function finish(tx: Queryable, { account_id, id, fence }: Fenced, end: End): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'execution_finish',
      text: `
with given as (
  select $1::uuid as account_id, $2::uuid as execution_id, $3::integer as fence, $4::jsonb as error, $5::timestamptz as at,
    $6::jsonb as noted
), ${endFrom('given', { mayFail: true })}
select 1
from ended`,
    },
    [account_id, id, fence, end.error && JSON.stringify(end.error), end.at, JSON.stringify(end.noted ?? {})],
  );
  return rows.length > 0;
}

import { emitFrom } from '../../../notify/events/emit.ts';
import type { NewEvent } from '../../../notify/events/new-event.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import type { ExecutionError } from '../../executions/runner.ts';
import { endFrom, type Fenced } from '../../executions/sql-parts.ts';
import { describeFailed } from './orders.ts';

type Failed = Fenced & { event: NewEvent };

const failed = rowsOf<Failed>(
  {
    account_id: column.uuid((row) => row.account_id),
    execution_id: column.uuid((row) => row.id),
    fence: column.integer((row) => row.fence),
    event_id: column.uuid((row) => row.event.uuid),
    event_type: column.text((row) => row.event.type),
    event_at: column.timestamptz((row) => row.event.createdAt),
    event_body: column.text((row) => row.event.body),
    event_subscriptions: column.text((row) => row.event.subscriptions),
  },
  3,
);

const fail = {
  name: 'esim_fail_without_esim',
  text: `
with given as (
  select given.*, $1::jsonb as error, $2::timestamptz as at, '{}'::jsonb as noted
  from ${failed.table} given
), ${endFrom('given', { mayFail: true })}, ${describeFailed}, ${emitFrom('ended')}
select 1
from ended`,
};

/** Fails orders that have no ICCID, with their events, in one statement. The caller has taken them in its transaction. */
export async function failWithoutEsim(
  tx: Queryable,
  rows: Failed[],
  { error, at }: { error: ExecutionError; at: Date },
): Promise<void> {
  if (rows.length === 0) return;
  const ended = await tx.query(fail, [JSON.stringify(error), at, ...failed.values(rows)]);
  if (ended.length !== rows.length) throw new Error('orders that were taken could not be ended');
}

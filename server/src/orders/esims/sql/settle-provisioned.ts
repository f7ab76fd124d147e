import { emitFrom } from '../../../notify/events/emit.ts';
import type { NewEvent } from '../../../notify/events/new-event.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { endFrom } from '../../executions/end-from.ts';
import { isHeld } from '../../executions/held.ts';
import type { Fenced } from '../../executions/worker.ts';
import { esimTransitions } from '../state.ts';
import { insertEsimFrom } from './insert-from.ts';

export type Provisioned = Fenced & {
  iccid: string;
  smdpAddress: string;
  sealedMatchingId: string;
  confirmationCodeRequired: boolean;
  bundleUuid: string;
  at: Date;
  event: NewEvent;
};

/** `lost`: another worker has claimed the order. `gone`: the eSIM was terminated meanwhile. */
export type SettleOutcome = 'settled' | 'lost' | 'gone';

/** Inserts the first bundle of each eSIM in `source`: account_id, iccid, product_id, bundle_id, at. */
export type FirstBundle = (source: string) => string;

/**
 * Ends successful orders in one statement: inserts their eSIMs, queues their bundles for the first attach, writes the events
 * and moves the executions to the history. Returns one outcome per row, in input order.
 */
export async function settleProvisionedRows(
  db: Queryable,
  rows: Provisioned[],
  firstBundle: FirstBundle,
): Promise<SettleOutcome[]> {
  const statement = { name: 'esim_settle_provisioned', text: textWith(firstBundle) };
  const outcomes = await db.query<{ n: number; outcome: SettleOutcome }>(statement, given.values(rows));
  return outcomes.sort((a, b) => a.n - b.n).map(({ outcome }) => outcome);
}

const given = rowsOf<Provisioned>({
  account_id: column.uuid((row) => row.account_id),
  execution_id: column.uuid((row) => row.id),
  fence: column.integer((row) => row.fence),
  iccid: column.text((row) => row.iccid),
  smdp_address: column.text((row) => row.smdpAddress),
  matching_id: column.text((row) => row.sealedMatchingId),
  confirmation_code_required: column.boolean((row) => row.confirmationCodeRequired),
  bundle_id: column.uuid((row) => row.bundleUuid),
  at: column.timestamptz((row) => row.at),
  event_id: column.uuid((row) => row.event.uuid),
  event_type: column.text((row) => row.event.type),
  event_at: column.timestamptz((row) => row.event.createdAt),
  event_body: column.text((row) => row.event.body),
  event_subscriptions: column.text((row) => row.event.subscriptions),
});

// Every insert reads from `ended`, so either everything of an order is written or nothing.
const textWith = (firstBundle: FirstBundle) => `
with given as (
  select given.*, null::jsonb as error
  from ${given.table} given
), ${endFrom('given', { condition: 'not q.is_terminated' })}, ready as (
  select ended.*, queued_product_id as product_id
  from ended
), esim as (${insertEsimFrom('ready', esimTransitions.provision.to)}
), ${firstBundle('ready')}, ${emitFrom('ready')}
select
  n::integer,
  case
    when n in (select n from ended) then 'settled'
    -- Not \`exists\`, for which PostgreSQL may read the whole queue.
    when (
      select true
      from execution_queue q
      where q.account_id = given.account_id and q.id = given.execution_id and ${isHeld('q', 'given.fence')}
    ) then 'gone'
    else 'lost'
  end as outcome
from given`;

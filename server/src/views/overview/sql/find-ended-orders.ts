import { dataField, indexedFailedOrder, indexedIccid } from '../../../notify/events/ids-in-body.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';

/** An event that says that an order ended. */
export type OrderEvent = {
  accountUuid: string;
  eventUuid: string;
  executionUuid: string;
  executionId: string;
};

type EndedOrder = { n: number; code: string | null; createdAt: Date; durationMs: number };

const given = rowsOf<OrderEvent>({
  account_id: column.uuid((row) => row.accountUuid),
  event_id: column.uuid((row) => row.eventUuid),
  execution_id: column.uuid((row) => row.executionUuid),
  execution_text: column.text((row) => row.executionId),
});

/** The orders of these events, by their index from 1. A test event may name an order too, so only the first event of each counts. */
export function findEndedOrders(tx: Queryable, events: OrderEvent[]): Promise<EndedOrder[]> {
  return tx.query(
    {
      name: 'overview_find_ended_orders',
      text: `
select
  n::integer,
  ended.error ->> 'code' as code,
  ended.created_at as "createdAt",
  (1000 * extract(epoch from ended.finished_at - ended.created_at))::float8 as "durationMs"
from ${given.table} given
cross join lateral (
  select status, iccid, error, created_at, finished_at
  from executions
  where account_id = given.account_id and id = given.execution_id and type = 'esim.provision'
  offset 0
) ended
where not (
  case ended.status
    when 'succeeded' then exists (
      -- The type is compared outside, so that a plan cannot walk all events of the type.
      select from (
        select type, body
        from events
        where account_id = given.account_id and ${indexedIccid} = ended.iccid and id < given.event_id
        offset 0
      ) earlier
      where type = 'esim.provisioned' and ${dataField('execution_id')} = given.execution_text)
    else exists (
      select from events
      where account_id = given.account_id
        and ${indexedFailedOrder} = given.execution_text
        and id < given.event_id
        and type = 'esim.provisioning_failed')
  end)`,
    },
    given.values(events),
  );
}

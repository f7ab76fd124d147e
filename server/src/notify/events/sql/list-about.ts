import type { Queryable } from '../../../platform/db/database.ts';
import { pageOfValue } from '../../../platform/lists/keyset.ts';
import { hasPendingDelivery } from '../has-pending-delivery.ts';
import { dataField, indexedFailedOrder, indexedIccid } from '../ids-in-body.ts';
import { type CutEvents, queryWithinBytes } from './query-within-bytes.ts';
import { isOfTypes, typeRanges } from './type-ranges.ts';

/** What the events are about. At least one is given. */
export type About = {
  iccid: string | undefined;
  execution: { id: string; uuid: string } | undefined;
};

export type EventRange = { beforeUuid: string; fromUuid: string; count: number; maxBytes: number };

/** Further filters. */
type Further = { types: string[] | undefined; delivery: 'failed' | 'pending' | undefined };

const hasDelivery = {
  pending: hasPendingDelivery,
  failed: `exists (
    select from deliveries d
    where d.account_id = events.account_id and d.event_id = events.id and d.status = 'failed')`,
};

/**
 * The events of an eSIM or an execution, newest first. They are few, so the other filters need no index. An execution's events have the
 * ICCID of its eSIM; only a failed order may have none.
 */
export function listEventsAbout(
  db: Queryable,
  accountUuid: string,
  { iccid, execution }: About,
  page: EventRange,
  { types, delivery }: Further,
): Promise<CutEvents> {
  const values = types ? typeRanges(types) : [];
  const name = `${types ? '_types' : ''}${delivery ? `_${delivery}` : ''}`;
  const conditions = (first: number) =>
    `${types ? `and ${isOfTypes(first)}` : ''} ${delivery ? `and ${hasDelivery[delivery]}` : ''}`;
  const shared = [accountUuid, page.beforeUuid, page.fromUuid, page.count];
  if (execution === undefined) {
    const statement = { name: `event_list_esim${name}`, text: ofEsim('$5', conditions(6)) };
    return queryWithinBytes(db, statement, [...shared, iccid, ...values], page.maxBytes);
  }
  if (iccid !== undefined) {
    const text = ofEsim('$5', `and ${dataField('execution_id')} = $6 ${conditions(7)}`);
    const statement = { name: `event_list_esim_execution${name}`, text };
    return queryWithinBytes(db, statement, [...shared, iccid, execution.id, ...values], page.maxBytes);
  }
  const statement = { name: `event_list_execution${name}`, text: ofExecution(conditions(7)) };
  return queryWithinBytes(db, statement, [...shared, execution.uuid, execution.id, ...values], page.maxBytes);
}

function ofEsim(iccid: string, conditions: string): string {
  const { condition, order } = pageOfValue(indexedIccid, iccid, '$3');
  return `
select id, body
from events
where account_id = $1 and ${condition} and ${dataField('iccid')} = ${iccid} ${conditions}
order by ${order}
limit $4`;
}

function ofExecution(conditions: string): string {
  const caused = `and ${dataField('execution_id')} = $6 ${conditions}`;
  const failed = pageOfValue(indexedFailedOrder, '$6', '$3');
  return `
with execution as materialized (
  select iccid
  from executions
  where account_id = $1 and id = $5
  union all
  select iccid
  from execution_queue
  where account_id = $1 and id = $5
)
select id, body
from (
  (${ofEsim('(select iccid from execution)', `and type <> 'esim.provisioning_failed' ${caused}`)})
  union all
  (
select id, body
from events
where account_id = $1 and type = 'esim.provisioning_failed' and ${failed.condition} ${caused}
order by ${failed.order}
limit $4)
) page
order by id desc
limit $4`;
}

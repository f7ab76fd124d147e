import { type Event, type InputFor, idPrefixes } from '@simplane/contract';
import type { ReadContext } from '../../accounts/context.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { createdRangeOf } from '../../platform/lists/created-range.ts';
import { type CutRows, readPageById } from '../../platform/lists/read-page.ts';
import { type EventPage, listEventRows } from './sql/events.ts';
import { distinctTypes } from './subscriptions.ts';

export function listEvents(ctx: ReadContext, { query }: InputFor<'listEvents'>) {
  const filter = {
    types: query.type && distinctTypes(query.type),
    created: createdRangeOf(query),
    delivery: query.delivery,
    about: aboutOf(query),
  };
  return readPageById(query, {
    scope: { list: 'events', accountId: ctx.account.id, filters: filter },
    read: (beforeUuid, count, maxBytes) =>
      listEventRows(ctx.db, ctx.account.uuid, filter, { beforeUuid, count, maxBytes }),
    present: (row): Event => JSON.parse(row.body),
    waitForRoom: ctx.waitForRoom,
  });
}

function aboutOf({ iccid, execution_id: id, reference }: InputFor<'listEvents'>['query']) {
  if ((iccid ?? id ?? reference) === undefined) return undefined;
  return {
    iccid,
    reference,
    execution: id === undefined ? undefined : { id, uuid: uuidOfId(idPrefixes.execution, id) as string },
  };
}

export type EsimEvent = { uuid: string; event: Event };

/** The events of an eSIM, newest first. */
export async function listEventsOfEsim(
  db: Queryable,
  accountUuid: string,
  iccid: string,
  page: EventPage,
): Promise<CutRows<EsimEvent>> {
  const about = { iccid, execution: undefined };
  const filter = { types: undefined, created: undefined, delivery: undefined, about };
  const { rows, isCut } = await listEventRows(db, accountUuid, filter, page);
  return { rows: rows.map(({ id, body }) => ({ uuid: id, event: JSON.parse(body) })), isCut };
}

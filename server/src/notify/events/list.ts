import { type Event, type InputOf, idPrefixes, type Operations } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { createdRangeOf } from '../../platform/lists/created-range.ts';
import { readPage } from '../../platform/lists/read-page.ts';
import { distinctTypes } from './distinct-types.ts';
import { listEventRows } from './sql/events.ts';

export function listEvents(ctx: Context, { query }: InputOf<Operations['listEvents']>) {
  const filter = {
    types: query.type && distinctTypes(query.type),
    created: createdRangeOf(query),
    delivery: query.delivery,
    about: aboutOf(query),
  };
  return readPage(query, {
    scope: { list: 'events', accountId: ctx.account.id, filters: filter },
    read: (beforeUuid, count, maxBytes) =>
      listEventRows(ctx.db, ctx.account.uuid, filter, { beforeUuid, count, maxBytes }),
    positionOf: (row) => row.id,
    present: (row): Event => JSON.parse(row.body),
    waitForRoom: ctx.waitForRoom,
  });
}

function aboutOf({ iccid, execution_id: id }: InputOf<Operations['listEvents']>['query']) {
  if ((iccid ?? id) === undefined) return undefined;
  return {
    iccid,
    execution: id === undefined ? undefined : { id, uuid: uuidOfId(idPrefixes.execution, id) as string },
  };
}

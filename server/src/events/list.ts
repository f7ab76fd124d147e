import type { Event, InputOf, Operations } from '@simplane/contract';
import type { Context } from '../context.ts';
import { createdRangeOf } from '../lists/created-range.ts';
import { readPage } from '../lists/read-page.ts';
import { listEventRows } from './sql/list.ts';

export function listEvents(ctx: Context, { query }: InputOf<Operations['listEvents']>) {
  const filter = {
    types: query.type && [...new Set(query.type)].sort(),
    created: createdRangeOf(query),
    delivery: query.delivery,
  };
  return readPage(query, {
    scope: { list: 'events', accountId: ctx.account.id, filters: filter },
    read: (beforeUuid, count) => listEventRows(ctx.db, ctx.account.uuid, filter, { beforeUuid, count }),
    positionOf: (row) => row.id,
    present: (row): Event => JSON.parse(row.body),
  });
}

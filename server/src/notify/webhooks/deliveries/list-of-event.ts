import type { InputOf, Operations } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { readPage } from '../../../platform/lists/read-page.ts';
import { presentDelivery } from './present.ts';
import { requireEvent } from './require.ts';
import { listRowsOfEvent } from './sql/deliveries.ts';

export async function listEventDeliveries(
  ctx: Context,
  { params, query }: InputOf<Operations['listEventDeliveries']>,
) {
  const { uuid } = await requireEvent(ctx.db, ctx.account.uuid, params.id);
  return readPage(query, {
    scope: { list: 'deliveries', accountId: ctx.account.id, filters: { eventUuid: uuid } },
    read: (beforeUuid, count) => listRowsOfEvent(ctx.db, ctx.account.uuid, uuid, { beforeUuid, count }),
    positionOf: (row) => row.id,
    present: presentDelivery,
    waitForRoom: ctx.waitForRoom,
  });
}

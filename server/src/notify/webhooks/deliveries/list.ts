import type { InputFor } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { readPageById } from '../../../platform/lists/read-page.ts';
import { requireEndpointStatus } from '../endpoints/get.ts';
import { requireEvent } from './get.ts';
import { presentDelivery } from './present.ts';
import { countByEvent, listRowsOfEndpoint, listRowsOfEvent } from './sql/deliveries.ts';

export async function listEndpointDeliveries(
  ctx: Context,
  { params, query }: InputFor<'listEndpointDeliveries'>,
) {
  const endpoint = await requireEndpointStatus(ctx, ctx.db, params.id);
  const filter = { endpointUuid: endpoint.id, status: query.status };
  return readPageById(query, {
    scope: { list: 'deliveries', accountId: ctx.account.id, filters: filter },
    read: (beforeUuid, count) => listRowsOfEndpoint(ctx.db, ctx.account.uuid, filter, { beforeUuid, count }),
    present: presentDelivery,
    waitForRoom: ctx.waitForRoom,
  });
}

export async function listEventDeliveries(ctx: Context, { params, query }: InputFor<'listEventDeliveries'>) {
  const { uuid } = await requireEvent(ctx.db, ctx.account.uuid, params.id);
  return readPageById(query, {
    scope: { list: 'deliveries', accountId: ctx.account.id, filters: { eventUuid: uuid } },
    read: (beforeUuid, count) => listRowsOfEvent(ctx.db, ctx.account.uuid, uuid, { beforeUuid, count }),
    present: presentDelivery,
    waitForRoom: ctx.waitForRoom,
  });
}

export type DeliveryCounts = { pending: number; succeeded: number; failed: number };

export async function countDeliveries(
  db: Queryable,
  accountUuid: string,
  eventUuids: string[],
): Promise<Map<string, DeliveryCounts>> {
  if (eventUuids.length === 0) return new Map();
  const rows = await countByEvent(db, accountUuid, eventUuids);
  return new Map(rows.map(({ eventUuid, ...counts }) => [eventUuid, counts]));
}

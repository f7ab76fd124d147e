import type { InputOf, Operations } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { readPage } from '../../../platform/lists/read-page.ts';
import { requireEndpoint } from '../endpoints/get.ts';
import { presentDelivery } from './present.ts';
import { listRowsOfEndpoint } from './sql/deliveries.ts';

export async function listEndpointDeliveries(
  ctx: Context,
  { params, query }: InputOf<Operations['listEndpointDeliveries']>,
) {
  const endpoint = await requireEndpoint(ctx, ctx.db, params.id);
  const filter = { endpointUuid: endpoint.id, status: query.status };
  return readPage(query, {
    scope: { list: 'deliveries', accountId: ctx.account.id, filters: filter },
    read: (beforeUuid, count) => listRowsOfEndpoint(ctx.db, ctx.account.uuid, filter, { beforeUuid, count }),
    positionOf: (row) => row.id,
    present: presentDelivery,
    waitForRoom: ctx.waitForRoom,
  });
}

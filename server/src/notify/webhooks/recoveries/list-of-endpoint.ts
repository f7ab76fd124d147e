import type { InputFor } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { readPageById } from '../../../platform/lists/read-page.ts';
import { requireEndpointStatus } from '../endpoints/get.ts';
import { presentRecovery } from './present.ts';
import { listRecoveryRows } from './sql.ts';

export async function listEndpointRecoveries(
  ctx: Context,
  { params, query }: InputFor<'listEndpointRecoveries'>,
) {
  const { id: endpointUuid } = await requireEndpointStatus(ctx, ctx.db, params.id);
  return readPageById(query, {
    scope: { list: 'recoveries', accountId: ctx.account.id, filters: { endpointUuid } },
    read: (beforeUuid, count) => listRecoveryRows(ctx.db, ctx.account.uuid, endpointUuid, beforeUuid, count),
    present: presentRecovery,
  });
}

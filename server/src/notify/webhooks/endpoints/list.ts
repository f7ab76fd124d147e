import type { InputFor } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { readPageById } from '../../../platform/lists/read-page.ts';
import { presentEndpoint } from './present.ts';
import { listEndpointRows } from './sql/endpoints.ts';

export function listWebhookEndpoints(ctx: Context, { query }: InputFor<'listWebhookEndpoints'>) {
  return readPageById(query, {
    scope: { list: 'webhook_endpoints', accountId: ctx.account.id, filters: {} },
    read: (beforeUuid, count) => listEndpointRows(ctx.db, ctx.account.uuid, beforeUuid, count),
    present: (row) => presentEndpoint(ctx, row),
    waitForRoom: ctx.waitForRoom,
  });
}

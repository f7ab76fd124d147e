import type { Context } from '../../../accounts/context.ts';
import { noSuch } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { announceDeliveries } from '../signal.ts';
import { noteGap } from '../undelivered/gaps.ts';
import { endpointKey } from './get.ts';
import { presentEndpoint } from './present.ts';
import { enableEndpointRow } from './sql/endpoints.ts';

/** Resumes delivery of new events; `recover` delivers the missed ones. */
export async function enableWebhookEndpoint(
  tx: Queryable,
  ctx: Context,
  { params }: { params: { id: string } },
) {
  const key = endpointKey(ctx, params.id);
  await noteGap(ctx, tx, key);
  const row = await enableEndpointRow(tx, key);
  if (!row) throw noSuch('webhook endpoint', params.id);
  return {
    body: presentEndpoint(ctx, row),
    afterCommit: () => announceDeliveries(ctx, { endpointUuid: row.id }),
  };
}

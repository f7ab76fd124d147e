import type { InputOf, Operations } from '@simplane/contract';
import type { WriteContext } from '../../../accounts/context.ts';
import { mergeMetadata } from '../../../accounts/metadata/merge.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { Outcome } from '../../../platform/idempotency/outcome.ts';
import { runOnce } from '../../../platform/idempotency/run-once.ts';
import { announceDeliveries } from '../signal.ts';
import { checkSettings } from './check-settings.ts';
import { endpointKey, noSuchEndpoint } from './get.ts';
import { presentEndpoint } from './present.ts';
import { describeUpdate, recordEndpointChange } from './record-change.ts';
import { cancelPendingDeliveries } from './sql/cancel.ts';
import {
  disableEndpointRow,
  type EndpointKey,
  type EndpointRow,
  enableEndpointRow,
  lockEndpoint,
  updateEndpointFields,
} from './sql/endpoints.ts';

type Input = InputOf<Operations['updateWebhookEndpoint']>;

/** Changes only the given fields; an empty body changes nothing. */
export async function updateWebhookEndpoint(ctx: WriteContext, { params, body }: Input): Promise<Outcome> {
  const refusal = checkSettings(ctx, body);
  let named = {};
  const outcome = await runOnce(ctx, async (tx) => {
    const key = endpointKey(ctx, params.id);
    const row = await lockEndpoint(tx, key);
    if (!row) throw noSuchEndpoint(params.id);
    if (refusal) throw refusal;
    const { status, ...fields } = body;
    const changed = Object.keys(fields).length > 0 ? await changeFields(tx, key, row, fields) : row;
    named = { endpointUuid: row.id };
    const after = await changeStatus(ctx, tx, key, changed, status);
    const changes = describeUpdate(row, after);
    await recordEndpointChange(ctx, tx, 'webhook_endpoint.updated', { endpointUuid: row.id, changes });
    return ctx.render(presentEndpoint(ctx, after));
  });
  return body.status === 'enabled' ? announceDeliveries(ctx, outcome, named) : outcome;
}

async function changeFields(
  tx: Queryable,
  key: EndpointKey,
  row: EndpointRow,
  fields: Omit<Input['body'], 'status'>,
): Promise<EndpointRow> {
  const changed = { ...row, ...fields, metadata: mergeMetadata(row.metadata, fields.metadata) };
  await updateEndpointFields(tx, key, changed);
  return changed;
}

/** Disabling by the owner sets no `disabled_reason`. An endpoint the service disabled keeps its reason. */
async function changeStatus(
  ctx: WriteContext,
  tx: Queryable,
  key: EndpointKey,
  row: EndpointRow,
  status: EndpointRow['status'] | undefined,
): Promise<EndpointRow> {
  if (status === undefined) return row;
  if (status === 'enabled') return (await enableEndpointRow(tx, key)) ?? row;
  const at = new Date(ctx.clock.nowMs());
  const disabled = await disableEndpointRow(tx, key, { reason: null, at });
  if (disabled) await cancelPendingDeliveries(tx, key, at);
  return disabled ?? row;
}

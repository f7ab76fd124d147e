import type { InputFor } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { mergeMetadata } from '../../../accounts/metadata/merge.ts';
import { noSuch } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { announceDeliveries } from '../signal.ts';
import { noteGap } from '../undelivered/gaps.ts';
import { checkSettings } from './check-settings.ts';
import { describeUpdate } from './describe-change.ts';
import { endpointKey } from './get.ts';
import { presentEndpoint } from './present.ts';
import { cancelPendingDeliveries } from './sql/cancel.ts';
import {
  disableEndpointRow,
  type EndpointKey,
  type EndpointRow,
  enableEndpointRow,
  lockEndpoint,
  updateEndpointFields,
} from './sql/endpoints.ts';

type Input = InputFor<'updateWebhookEndpoint'>;

/** Changes only the given fields; an empty body changes nothing. */
export async function updateWebhookEndpoint(tx: Queryable, ctx: Context, { params, body }: Input) {
  const key = endpointKey(ctx, params.id);
  const row = await lockEndpoint(tx, key);
  if (!row) throw noSuch('webhook endpoint', params.id);
  checkSettings(ctx, body);
  const { status, ...fields } = body;
  // What it missed until now, it missed with its present subscriptions.
  if (status === 'enabled' || fields.enabled_event_types) await noteGap(ctx, tx, key);
  const changed = Object.keys(fields).length > 0 ? await changeFields(tx, key, row, fields) : row;
  const after = await changeStatus(ctx, tx, key, changed, status);
  return {
    body: presentEndpoint(ctx, after),
    changes: describeUpdate(row, after),
    afterCommit: () => status === 'enabled' && announceDeliveries(ctx, { endpointUuid: row.id }),
  };
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
  ctx: Context,
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

import type { InputOf, Operations } from '@simplane/contract';
import { AppError } from '../../app-error.ts';
import type { WriteContext } from '../../context.ts';
import type { Queryable } from '../../db/database.ts';
import type { Outcome } from '../../idempotency/outcome.ts';
import { runOnce } from '../../idempotency/run-once.ts';
import { checkSettings } from './check-settings.ts';
import { noSuchEndpoint, placeOf } from './get.ts';
import { presentEndpoint } from './present.ts';
import {
  cancelPendingDeliveries,
  disableEndpointRow,
  type EndpointPlace,
  type EndpointRow,
  enableEndpointRow,
  lockEndpoint,
  updateEndpointFields,
} from './sql.ts';

type Input = InputOf<Operations['updateWebhookEndpoint']>;

const mostMetadata = 20;

/** Changes what is given and leaves the rest; a body that gives nothing changes nothing. */
export async function updateWebhookEndpoint(ctx: WriteContext, { params, body }: Input): Promise<Outcome> {
  const refusal = checkSettings(ctx, body);
  return runOnce(ctx, async (tx) => {
    const place = placeOf(ctx, params.id);
    const row = await lockEndpoint(tx, place);
    if (!row) throw noSuchEndpoint(params.id);
    if (refusal) throw refusal;
    const { status, ...fields } = body;
    const changed = Object.keys(fields).length > 0 ? await changeFields(tx, place, row, fields) : row;
    return ctx.render(presentEndpoint(await changeStatus(ctx, tx, place, changed, status)));
  });
}

async function changeFields(
  tx: Queryable,
  place: EndpointPlace,
  row: EndpointRow,
  fields: Omit<Input['body'], 'status'>,
): Promise<EndpointRow> {
  const changed = { ...row, ...fields, metadata: mergeMetadata(row.metadata, fields.metadata) };
  await updateEndpointFields(tx, place, changed);
  return changed;
}

/** Name by name, so that two programs may each keep their own; an empty value removes its name. */
function mergeMetadata(kept: Record<string, string>, given: Record<string, string> = {}) {
  const merged = Object.entries({ ...kept, ...given }).filter(
    ([name, value]) => value !== '' || !Object.hasOwn(given, name),
  );
  if (merged.length > mostMetadata) {
    throw new AppError(
      'parameter_invalid',
      `metadata must have at most ${mostMetadata} entries; with those it has already there would be ${merged.length}. An empty value removes a name.`,
      { param: 'metadata' },
    );
  }
  return Object.fromEntries(merged);
}

/** The owner's own decision has no `disabled_reason`. One that we disabled stays so, with what there is to fix. */
async function changeStatus(
  ctx: WriteContext,
  tx: Queryable,
  place: EndpointPlace,
  row: EndpointRow,
  status: EndpointRow['status'] | undefined,
): Promise<EndpointRow> {
  if (status === undefined) return row;
  if (status === 'enabled') return (await enableEndpointRow(tx, place)) ?? row;
  const at = new Date(ctx.clock.nowMs());
  const disabled = await disableEndpointRow(tx, place, { reason: null, at });
  if (disabled) await cancelPendingDeliveries(tx, place, at);
  return disabled ?? row;
}

import { type InputOf, idPrefixes, type Operations } from '@simplane/contract';
import type { WriteContext } from '../../context.ts';
import type { Outcome } from '../../idempotency/outcome.ts';
import { runOnce } from '../../idempotency/run-once.ts';
import { idOfUuid, uuidText } from '../../ids/uuid.ts';
import { requireEndpoint } from '../endpoints/get.ts';
import { announceDeliveries } from './announce.ts';
import { insertRecovery } from './recovery-sql.ts';
import { endpointDisabled } from './require.ts';

// Other machines' clocks may be ahead, and so the ids of their events. What comes after the recovery has deliveries of
// its own and is left alone, so the bound may be generous.
const clockSkewMs = 3_600_000;

/** Takes the order durably; `runRecoveries` carries it out. */
export async function recoverWebhookEndpoint(
  ctx: WriteContext,
  { params, body }: InputOf<Operations['recoverWebhookEndpoint']>,
): Promise<Outcome> {
  const outcome = await runOnce(ctx, async (tx) => {
    const endpoint = await requireEndpoint(ctx, tx, params.id);
    const id = idOfUuid(idPrefixes.webhookEndpoint, endpoint.id);
    const nowMs = ctx.clock.nowMs();
    const isTaken = await insertRecovery(tx, {
      accountUuid: ctx.account.uuid,
      uuid: uuidText(ctx.newUuid()),
      endpointUuid: endpoint.id,
      fromEvent: `${timeBits(body.since * 1000)}${'0'.repeat(20)}`,
      untilEvent: `${timeBits(nowMs + clockSkewMs)}${'f'.repeat(20)}`,
      createdAt: new Date(nowMs),
    });
    if (!isTaken) throw endpointDisabled(id);
    return ctx.render({ object: 'recovery', webhook_endpoint_id: id, since: body.since });
  });
  return announceDeliveries(ctx, outcome);
}

/** The first 48 bits of a UUIDv7: all ids of that millisecond begin with them. */
function timeBits(unixMs: number): string {
  return unixMs.toString(16).padStart(12, '0');
}

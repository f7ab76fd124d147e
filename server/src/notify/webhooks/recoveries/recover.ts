import { type InputOf, idPrefixes, type Operations } from '@simplane/contract';
import type { WriteContext } from '../../../accounts/context.ts';
import type { Outcome } from '../../../platform/idempotency/outcome.ts';
import { runOnce } from '../../../platform/idempotency/run-once.ts';
import { runThenStore } from '../../../platform/idempotency/run-then-store.ts';
import { idOfUuid, uuidText } from '../../../platform/ids/uuid.ts';
import { highestUuidAt, lowestUuidAt } from '../../../platform/ids/uuid-range.ts';
import { endpointDisabled } from '../deliveries/require.ts';
import { requireEndpoint } from '../endpoints/get.ts';
import { recordEndpointChange } from '../endpoints/record-change.ts';
import { announceDeliveries } from '../signal.ts';
import { presentRecovery } from './present.ts';
import { previewRecovery } from './preview.ts';
import { insertRecovery } from './sql.ts';

// Other machines' clocks, and so their event ids, may be ahead. A generous margin is safe: later events already have
// deliveries and are skipped.
const clockSkewMs = 3_600_000;

type Input = InputOf<Operations['recoverWebhookEndpoint']>;

export function recoverWebhookEndpoint(ctx: WriteContext, input: Input): Promise<Outcome> {
  return input.body.dry_run ? previewOnce(ctx, input) : startRecovery(ctx, input);
}

function previewOnce(ctx: WriteContext, { params, body }: Input): Promise<Outcome> {
  const untilMs = ctx.clock.nowMs() + clockSkewMs;
  const period = { endpointId: params.id, sinceSeconds: body.since, untilMs };
  ctx.describe(null);
  return runThenStore(ctx, async () => ctx.render(await previewRecovery(ctx, period)));
}

/** Stores the recovery; `runRecoveries` executes it. */
async function startRecovery(ctx: WriteContext, { params, body }: Input): Promise<Outcome> {
  const outcome = await runOnce(ctx, async (tx) => {
    const endpoint = await requireEndpoint(ctx, tx, params.id);
    const nowMs = ctx.clock.nowMs();
    const row = await insertRecovery(tx, {
      accountUuid: ctx.account.uuid,
      uuid: uuidText(ctx.newUuid()),
      endpointUuid: endpoint.id,
      fromEvent: lowestUuidAt(body.since * 1_000),
      untilEvent: highestUuidAt(nowMs + clockSkewMs),
      createdAt: new Date(nowMs),
    });
    if (!row) throw endpointDisabled(idOfUuid(idPrefixes.webhookEndpoint, endpoint.id));
    const recovery = presentRecovery(row);
    await recordEndpointChange(ctx, tx, 'webhook_endpoint.recovery_started', {
      endpointUuid: endpoint.id,
      changes: { recovery_id: recovery.id, since: body.since },
    });
    return ctx.render(recovery, { location: `/v1/recoveries/${recovery.id}` });
  });
  return announceDeliveries(ctx, outcome);
}

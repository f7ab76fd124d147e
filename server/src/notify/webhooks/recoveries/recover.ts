import {
  type InputOf,
  idPrefixes,
  type Operations,
  type Recovery,
  type RecoveryPreview,
} from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import type { Reply } from '../../../accounts/write.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { idOfUuid, uuidText } from '../../../platform/ids/uuid.ts';
import { highestUuidAt, lowestUuidAt } from '../../../platform/ids/uuid-range.ts';
import { endpointDisabled } from '../deliveries/get.ts';
import { requireEndpoint } from '../endpoints/get.ts';
import { announceDeliveries } from '../signal.ts';
import { presentRecovery } from './present.ts';
import { previewRecovery } from './preview.ts';
import { insertRecovery } from './sql.ts';

// Other machines' clocks, and so their event ids, may be ahead. A generous margin is safe: later events already have
// deliveries and are skipped.
const clockSkewMs = 3_600_000;

type Input = InputOf<Operations['recoverWebhookEndpoint']>;

export const recoverWebhookEndpoint = { beforeTransaction: preview, write: startRecovery };

/** What a dry run answers. It takes too long for a transaction. */
async function preview(ctx: Context, { params, body }: Input): Promise<Reply<RecoveryPreview> | null> {
  if (!body.dry_run) return null;
  const untilMs = ctx.clock.nowMs() + clockSkewMs;
  const period = { endpointId: params.id, sinceSeconds: body.since, untilMs };
  return { body: await previewRecovery(ctx, period), changes: null };
}

/** Stores the recovery; `runRecoveries` executes it. */
async function startRecovery(tx: Queryable, ctx: Context, { params, body }: Input): Promise<Reply<Recovery>> {
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
  return {
    body: recovery,
    location: `/v1/recoveries/${recovery.id}`,
    changes: { recovery_id: recovery.id, since: body.since },
    afterCommit: () => announceDeliveries(ctx),
  };
}

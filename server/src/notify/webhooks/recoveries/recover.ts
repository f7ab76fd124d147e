import { type InputFor, idPrefixes, type Recovery, type RecoveryPreview } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { pathsOf } from '../../../accounts/deployment.ts';
import type { Reply } from '../../../accounts/write.ts';
import { invalid } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { idOfUuid, uuidText } from '../../../platform/ids/uuid.ts';
import { highestUuidAt, lowestUuidAt } from '../../../platform/ids/uuid-range.ts';
import { distinctTypes } from '../../events/subscriptions.ts';
import { endpointDisabled } from '../deliveries/get.ts';
import { type EndpointRow, requireEndpoint } from '../endpoints/get.ts';
import { announceDeliveries } from '../signal.ts';
import { presentRecovery } from './present.ts';
import { previewRecovery, previewUndelivered } from './preview.ts';
import { insertRecovery } from './sql.ts';

// Other machines' clocks, and so their event ids, may be ahead. A generous margin is safe: later events already have
// deliveries and are skipped.
const clockSkewMs = 3_600_000;

// An event that was written while the oldest was looked up may be older by some seconds.
const lateMs = 60_000;

type Input = InputFor<'recoverWebhookEndpoint'>;

export const recoverWebhookEndpoint = { beforeTransaction };

async function beforeTransaction(
  ctx: Context,
  input: Input,
): Promise<Reply<Recovery | RecoveryPreview> | ((tx: Queryable) => Promise<Reply<Recovery>>)> {
  checkPeriod(ctx, input.body);
  return input.body.dry_run ? preview(ctx, input) : (tx) => startRecovery(tx, ctx, input);
}

/** What a dry run answers. It takes too long for a transaction. */
async function preview(ctx: Context, { params, body }: Input): Promise<Reply<RecoveryPreview>> {
  const endpoint = await requireEndpoint(ctx, ctx.db, params.id);
  const wanted = { untilEvent: untilEventOf(ctx, body), types: typesOf(body) };
  const { since } = body;
  const found =
    since === undefined
      ? await previewUndelivered(ctx, endpoint, wanted)
      : await previewRecovery(ctx, endpoint, { ...wanted, sinceSeconds: since });
  return { body: found, status: 200, changes: null };
}

/** Stores the recovery; `runRecoveries` executes it. */
async function startRecovery(tx: Queryable, ctx: Context, { params, body }: Input): Promise<Reply<Recovery>> {
  const endpoint = await requireEndpoint(ctx, tx, params.id);
  const row = await insertRecovery(tx, {
    accountUuid: ctx.account.uuid,
    uuid: uuidText(ctx.newUuid()),
    endpointUuid: endpoint.id,
    fromEvent: fromEventOf(ctx, endpoint, body),
    untilEvent: untilEventOf(ctx, body),
    types: typesOf(body),
    isOfUndelivered: body.since === undefined,
    createdAt: new Date(ctx.clock.nowMs()),
  });
  if (!row) throw endpointDisabled(ctx.account, idOfUuid(idPrefixes.webhookEndpoint, endpoint.id));
  const recovery = presentRecovery(row);
  const { dry_run: _, ...asked } = body;
  return {
    body: recovery,
    location: `${pathsOf(ctx.account)}/recoveries/${recovery.id}`,
    changes: { recovery_id: recovery.id, ...asked },
    afterCommit: () => announceDeliveries(ctx),
  };
}

function checkPeriod({ clock }: Context, { since, until }: Input['body']): void {
  if (since !== undefined && since * 1_000 > clock.nowMs()) {
    const message = `since must not be in the future; got ${since}, and it is ${Math.floor(clock.nowMs() / 1_000)} now. Omit it to recover everything that the endpoint missed.`;
    throw invalid('since', message);
  }
  if (since !== undefined && until !== undefined && until <= since) {
    throw invalid('until', 'until must be after since.');
  }
}

/** Without a time, from the oldest event that the endpoint missed. */
function fromEventOf(ctx: Context, { missed }: EndpointRow, { since }: Input['body']): string {
  if (since !== undefined) return lowestUuidAt(since * 1_000);
  return lowestUuidAt((missed.since_ms ?? ctx.clock.nowMs()) - lateMs);
}

function untilEventOf({ clock }: Context, { until }: Input['body']): string {
  const latestMs = clock.nowMs() + clockSkewMs;
  if (until === undefined || until * 1_000 > latestMs) return highestUuidAt(latestMs);
  return lowestUuidAt(until * 1_000);
}

function typesOf({ types }: Input['body']): string[] | null {
  return types ? distinctTypes(types) : null;
}

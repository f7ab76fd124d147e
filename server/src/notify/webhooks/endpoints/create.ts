import type { InputFor } from '@simplane/contract';
import type { Account, Context } from '../../../accounts/context.ts';
import { deployment, kindOf } from '../../../accounts/deployment.ts';
import { mergeMetadata } from '../../../accounts/metadata/merge.ts';
import { AppError } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { uuidText } from '../../../platform/ids/uuid.ts';
import { checkSettings } from './check-settings.ts';
import { describeSettings } from './describe-change.ts';
import { presentEndpoint } from './present.ts';
import { addSecret } from './rotate-secret.ts';
import { type EndpointRow, insertEndpoint, insertPlace, lockAndCountEndpoints } from './sql/endpoints.ts';

export async function createWebhookEndpoint(
  tx: Queryable,
  ctx: Context,
  { body }: InputFor<'createWebhookEndpoint'>,
) {
  checkSettings(ctx, body);
  const accountUuid = ctx.account.uuid;
  const limit = ctx.account.limits.webhookEndpoints ?? ctx.endpointLimit;
  if ((await lockAndCountEndpoints(tx, accountUuid)) >= limit) throw limitReached(ctx.account, limit);
  const row = newEndpoint(ctx, body);
  await insertEndpoint(tx, accountUuid, row);
  if (accountUuid === deployment.uuid) await insertPlace(tx, accountUuid, row.id);
  const secret = await addSecret(ctx, tx, { accountUuid, endpointUuid: row.id }, row.created_at);
  return {
    body: { ...presentEndpoint(ctx, row), secret },
    isSecret: true,
    changes: describeSettings(row),
  };
}

/** Stores the URL exactly as sent. Parsing is deterministic, so the sender uses the URL that was checked here. */
function newEndpoint(ctx: Context, body: InputFor<'createWebhookEndpoint'>['body']): EndpointRow {
  const createdAt = new Date(ctx.clock.nowMs());
  return {
    id: uuidText(ctx.newUuid()),
    url: body.url,
    enabled_event_types: body.enabled_event_types,
    description: body.description ?? null,
    metadata: mergeMetadata({}, body.metadata),
    ordering: body.ordering ?? 'none',
    status: 'enabled',
    disabled_reason: null,
    disabled_at: null,
    failing_since: null,
    failure_count: 0,
    last_success_at: null,
    last_error: null,
    next_attempt_at: null,
    api_version: ctx.apiVersion,
    secrets: [{ created_ms: createdAt.getTime(), expires_ms: null }],
    created_at: createdAt,
    missed: { count: 0, since_ms: null },
  };
}

function limitReached(account: Account, limit: number): AppError {
  return new AppError(
    'endpoint_limit_reached',
    `The ${kindOf(account)} has reached its limit of ${limit} webhook endpoints. Delete one that is no longer used.`,
  );
}

import { type InputFor, idPrefixes, probeEventType, type WebhookProbe } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { deployment } from '../../../accounts/deployment.ts';
import type { Reply } from '../../../accounts/write.ts';
import { AppError, noSuch } from '../../../platform/app-error.ts';
import { unixSeconds } from '../../../platform/clock.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { composeEvent } from '../../events/new-event.ts';
import { withAccount } from '../../events/with-account.ts';
import type { Probing } from '../sender/probes.ts';
import { endpointKey } from './get.ts';
import { findTarget } from './sql/endpoints.ts';

/** Sends a test request and returns what happened. No transaction is open meanwhile, and its event is not written to the log. */
export const probeWebhookEndpoint = { beforeTransaction: probe };

async function probe(
  ctx: Context & Probing,
  { params: { id } }: InputFor<'probeWebhookEndpoint'>,
): Promise<Reply<WebhookProbe>> {
  const startedAtMs = ctx.clock.nowMs();
  const target = await findTarget(ctx.db, endpointKey(ctx, id), new Date(startedAtMs));
  if (!target) throw noSuch('webhook endpoint', id);
  const data = {
    webhook_endpoint_id: id,
    test: true,
    message: 'A test request. Nothing happened to an eSIM.',
  };
  const event = composeEvent(ctx, { accountUuid: ctx.account.uuid, type: probeEventType, data });
  const body = ctx.account.uuid === deployment.uuid ? withAccount(event.body, null) : event.body;
  const result = await ctx.probes.send({ ...target, event_id: event.uuid, is_test: true, body });
  if (result === 'busy') throw busy();
  if ('unsent' in result) throw notSent();
  const outcome = result.ok ? 'succeeded' : 'failed';
  return {
    body: {
      object: 'webhook_probe',
      webhook_endpoint_id: id,
      event_id: idOfUuid(idPrefixes.event, event.uuid),
      outcome,
      at: unixSeconds(startedAtMs),
      duration_ms: result.durationMs,
      status_code: result.statusCode,
      error: result.error,
      response: result.excerpt,
    },
    changes: { outcome },
  };
}

function busy(): AppError {
  return new AppError(
    'rate_limited',
    'Too many test requests are running. Wait until one of them has ended.',
    { headers: { 'Retry-After': '1' } },
  );
}

/** The log has the reason, which is the operator's concern. */
function notSent(): AppError {
  return new AppError(
    'unavailable',
    'The test request could not be sent. The endpoint is not the cause. Retry shortly.',
    { headers: { 'Retry-After': '1' } },
  );
}

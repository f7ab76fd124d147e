import type { Event, InputOf, Operations } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { emit } from './emit.ts';
import { composeEvent } from './new-event.ts';
import { markTest } from './sql/events.ts';

/** Emits a test event the same way as real events. */
export async function sendTestEvent(
  tx: Queryable,
  ctx: Context,
  { body }: InputOf<Operations['sendTestEvent']>,
) {
  if (ctx.mode !== 'sandbox') {
    throw new AppError(
      'sandbox_only',
      'Test events are for the sandbox only; this is a live deployment. To test an endpoint here, send it a test request (probe).',
    );
  }
  const event = composeEvent(ctx, { accountUuid: ctx.account.uuid, ...body });
  await emit(tx, [event]);
  await markTest(tx, event.accountUuid, event.uuid);
  return {
    body: JSON.parse(event.body) as Event,
    changes: { type: body.type },
    afterCommit: () => ctx.signals.announce('deliveries', ctx.account.uuid),
  };
}

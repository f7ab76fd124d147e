import type { InputOf, Operations } from '@simplane/contract';
import type { WriteContext } from '../../accounts/context.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Outcome } from '../../platform/idempotency/outcome.ts';
import { runOnce } from '../../platform/idempotency/run-once.ts';
import { emit } from './emit.ts';
import { composeEvent } from './new-event.ts';

/** Emits a test event the same way as real events. */
export async function sendTestEvent(
  ctx: WriteContext,
  { body }: InputOf<Operations['sendTestEvent']>,
): Promise<Outcome> {
  if (ctx.mode !== 'sandbox') {
    throw new AppError(
      'sandbox_only',
      'Test events are for the sandbox only; this is a live deployment. To test an endpoint here, send it a test request (probe).',
    );
  }
  const outcome = await runOnce(ctx, async (tx) => {
    // The list finds an eSIM's events by the ICCID that their data starts with.
    const data =
      typeof body.data['iccid'] === 'string' ? { iccid: body.data['iccid'], ...body.data } : body.data;
    const event = composeEvent(ctx, { accountUuid: ctx.account.uuid, type: body.type, data });
    await emit(tx, [event]);
    ctx.describe({ type: body.type });
    return ctx.render(JSON.parse(event.body));
  });
  ctx.signals.announce('deliveries', ctx.account.uuid);
  return outcome;
}

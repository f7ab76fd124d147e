import type { WriteContext } from '../../context.ts';
import type { Outcome } from '../../idempotency/outcome.ts';

/** After the commit: what was queued is worth waking a sender for; a refusal or a repeated answer queued nothing. */
export function announceDeliveries(ctx: WriteContext, outcome: Outcome): Outcome {
  if (outcome.kind === 'answered' && !outcome.replayed && outcome.answer.status < 400) {
    ctx.signals.announce('deliveries', ctx.account.uuid);
  }
  return outcome;
}

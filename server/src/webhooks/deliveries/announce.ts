import type { WriteContext } from '../../context.ts';
import type { Outcome } from '../../idempotency/outcome.ts';

/** Wakes a sender after the commit, unless the request failed or was an idempotent replay: those queue nothing. */
export function announceDeliveries(ctx: WriteContext, outcome: Outcome): Outcome {
  if (outcome.kind === 'answered' && !outcome.replayed && outcome.answer.status < 400) {
    ctx.signals.announce('deliveries', ctx.account.uuid);
  }
  return outcome;
}

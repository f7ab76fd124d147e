import type { WriteContext } from '../../accounts/context.ts';
import type { Outcome } from '../../platform/idempotency/outcome.ts';
import { subjectOf } from './delivery-signal.ts';

/**
 * Wakes senders after the commit, for the account's deliveries or only for what is named. Does nothing if the request failed or was
 * an idempotent replay: those queue nothing.
 */
export function announceDeliveries(
  ctx: WriteContext,
  outcome: Outcome,
  named: { endpointUuid?: string; deliveryUuid?: string } = {},
): Outcome {
  if (outcome.kind === 'answered' && !outcome.replayed && outcome.answer.status < 400) {
    ctx.signals.announce('deliveries', subjectOf({ accountUuid: ctx.account.uuid, ...named }));
  }
  return outcome;
}

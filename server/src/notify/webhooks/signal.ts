import type { WriteContext } from '../../accounts/context.ts';
import type { Outcome } from '../../platform/idempotency/outcome.ts';

/** What wakes senders: an account with new deliveries, an endpoint that was enabled, or a delivery to send now. */
export type DeliverySignal = { accountUuid: string; endpointUuid?: string; deliveryUuid?: string };

function subjectOf({ accountUuid, endpointUuid, deliveryUuid }: DeliverySignal): string {
  return [accountUuid, endpointUuid, deliveryUuid].filter((uuid) => uuid !== undefined).join('/');
}

export function readSubject(subject: string): DeliverySignal {
  const [accountUuid = '', endpointUuid, deliveryUuid] = subject.split('/');
  return {
    accountUuid,
    ...(endpointUuid !== undefined && { endpointUuid }),
    ...(deliveryUuid !== undefined && { deliveryUuid }),
  };
}

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

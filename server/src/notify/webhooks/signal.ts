import type { Context } from '../../accounts/context.ts';

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

/** Wakes senders for the account's deliveries, or only for what is named. Call it after the commit. */
export function announceDeliveries(
  { signals, account }: Context,
  named: { endpointUuid?: string; deliveryUuid?: string } = {},
): void {
  signals.announce('deliveries', subjectOf({ accountUuid: account.uuid, ...named }));
}

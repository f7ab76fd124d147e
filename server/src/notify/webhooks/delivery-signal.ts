/** What wakes senders: an account with new deliveries, an endpoint that was enabled, or a delivery to send now. */
export type DeliverySignal = { accountUuid: string; endpointUuid?: string; deliveryUuid?: string };

export function subjectOf({ accountUuid, endpointUuid, deliveryUuid }: DeliverySignal): string {
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

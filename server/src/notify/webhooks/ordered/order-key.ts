/** The deliveries of one eSIM to one endpoint, which are sent one after the other. */
export type OrderKey = { accountUuid: string; endpointUuid: string; iccid: string };

/** A delivery that has become the first of its key and is due now. */
export type Promoted = OrderKey & { deliveryUuid: string };

/** The same for equal keys. Endpoint ids are unique. */
export function orderKeyText({ endpointUuid, iccid }: OrderKey): string {
  return `${endpointUuid}/${iccid}`;
}

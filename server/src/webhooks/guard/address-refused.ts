/** The guard's refusal, for the attempt log. The message is the customer's to read; `address` is the operator's. */
export class AddressRefused extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';
  readonly address: string | undefined;

  constructor(message: string, address?: string) {
    super(message);
    this.name = 'AddressRefused';
    this.address = address;
  }
}

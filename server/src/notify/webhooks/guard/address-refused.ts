/** The guard refused an address. Customers may read the message; `address` is for the operator only. */
export class AddressRefused extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';
  readonly address: string | undefined;

  constructor(message: string, address?: string) {
    super(message);
    this.name = 'AddressRefused';
    this.address = address;
  }
}

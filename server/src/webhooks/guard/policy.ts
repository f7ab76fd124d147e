/** Which addresses webhooks may be sent to. Link-local and metadata addresses are in none. */
export type AddressPolicy = {
  /** `http` as well as `https`. */
  allowsHttp: boolean;
  /** Loopback and private networks, for a sandbox on a developer's own machine. */
  allowsPrivate: boolean;
  /** Networks that the operator allows besides, in CIDR notation. */
  allowedCidrs: readonly string[];
};

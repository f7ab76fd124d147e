/** Which addresses webhooks may be sent to. No policy allows link-local or metadata addresses. */
export type AddressPolicy = {
  /** Allows `http` in addition to `https`. */
  allowsHttp: boolean;
  /** Allows loopback and private networks, for a sandbox on a developer's machine. */
  allowsPrivate: boolean;
  /** Additional networks the operator allows, in CIDR notation. */
  allowedCidrs: readonly string[];
};

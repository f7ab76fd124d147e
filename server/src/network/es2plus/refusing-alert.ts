/**
 * Whether an error code of OpenSSL is the alert of a peer that does not take our certificate. With TLS 1.3 it comes after we
 * think that the handshake is over, and says that nothing was read. Any other alert may come after the work was done.
 */
export function isRefusingAlert(code: string): boolean {
  return /^ERR_SSL_.*ALERT_.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/.test(code);
}

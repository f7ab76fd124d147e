/**
 * Whether an OpenSSL error code is the alert of a peer that rejects our certificate. With TLS 1.3 it arrives after we have
 * finished the handshake, and means that the request was not read. Any other alert may arrive after the request was executed.
 */
export function isRefusingAlert(code: string): boolean {
  return /^ERR_SSL_.*ALERT_.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/.test(code);
}

import type { PeerCertificate } from 'node:tls';
import { isRefusingAlert } from './refusing-alert.ts';

/** `cause` is an error code of Node, OpenSSL or undici, or a message where there is none. */
type Failure = { cause: string; hasAuthorities: boolean; peer?: PeerCertificate | null };

/** Why no connection to the SM-DP+ could be established, and what to change. Without the host, which the caller names. */
export function explainHandshake({ cause, hasAuthorities, peer }: Failure): string {
  if (cause === 'ENOTFOUND') return 'no such host; check the name in SIMPLANE_ES2_URL';
  if (cause === 'EAI_AGAIN') return 'the name cannot be looked up: no DNS server answers';
  if (cause === 'ECONNREFUSED') return 'nothing listens there: it is down, or the port is wrong';
  if (/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(cause)) {
    return 'no answer: it is down, or a route or firewall blocks it';
  }
  if (/SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|INVALID_CA/.test(cause)) {
    return hasAuthorities
      ? `the issuer of its certificate, ${issuerOf(peer)}, is not in SIMPLANE_ES2_CA; add that CA to the file`
      : `the issuer of its certificate, ${issuerOf(peer)}, is not a public CA; set SIMPLANE_ES2_CA to a file with that CA`;
  }
  if (cause === 'CERT_HAS_EXPIRED') return `its certificate expired on ${peer?.valid_to ?? 'an earlier day'}`;
  if (cause === 'CERT_NOT_YET_VALID')
    return 'its certificate is not valid yet; check the clock of this machine';
  if (/ALTNAME|HOSTNAME_MISMATCH/.test(cause)) {
    return `its certificate is for other names (${peer?.subjectaltname ?? nameOf(peer?.subject)}); use one of them in SIMPLANE_ES2_URL`;
  }
  if (isRefusingAlert(cause)) return 'it does not accept SIMPLANE_ES2_CERT';
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|EPROTO/.test(cause))
    return 'it does not speak TLS on this port; check the port';
  if (/ECONNRESET|EPIPE/.test(cause)) {
    return 'it closed the connection; it probably does not accept SIMPLANE_ES2_CERT, or this is not its port';
  }
  return 'the TLS handshake failed';
}

function issuerOf(peer: PeerCertificate | null | undefined): string {
  return nameOf(peer?.issuer);
}

/** `CN=…, O=…`, for people. */
export function nameOf(name: object | undefined): string {
  const parts = Object.entries(name ?? {}).map(([key, value]) => `${key}=${value}`);
  return parts.length > 0 ? parts.join(', ') : 'an unnamed issuer';
}

import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { clip } from '../../platform/telemetry/clip.ts';
import { nameOf } from './explain-handshake.ts';
import { isRefusingAlert } from './refusing-alert.ts';

/**
 * Who a client without an accepted certificate says it is, and why it is refused; null if it is accepted. For the log. Without
 * `subjects`, every certificate of the authority is accepted.
 */
export function findRefusal(socket: TLSSocket, subjects: readonly string[] | null): object | null {
  const peer = socket.getPeerX509Certificate();
  const from = socket.remoteAddress ?? 'gone';
  // Node 20 says `authorized` for a resumed TLS 1.3 session without a certificate.
  if (!peer) return { from, cause: 'it presented no certificate' };
  const { subject, issuer } = socket.getPeerCertificate();
  const who = { from, subject: clip(nameOf(subject), 200), issuer: clip(nameOf(issuer), 200) };
  if (!socket.authorized) return { ...who, cause: explain(String(socket.authorizationError), peer.validTo) };
  if (subjects === null || subjects.some((name) => isNamed(name, peer, subject.CN))) return null;
  const names = clip(peer.subjectAltName ?? 'none', 200);
  return { ...who, names, cause: 'its names are not in SIMPLANE_ES2_LISTEN_SUBJECTS' };
}

/** A certificate with several common names has an array of them, which equals no name. */
function isNamed(name: string, peer: X509Certificate, commonName: unknown): boolean {
  return commonName === name || peer.checkHost(name, { subject: 'never', wildcards: false }) !== undefined;
}

function explain(code: string, endsAt: string): string {
  if (code === 'CERT_HAS_EXPIRED') return `its certificate expired on ${endsAt}`;
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet';
  if (/SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|INVALID_CA/.test(code)) {
    return 'issuer not in SIMPLANE_ES2_LISTEN_CLIENT_CA';
  }
  return `its certificate cannot be verified (${code})`;
}

/** Why a TLS handshake did not complete. */
export function explainBrokenHandshake(code: string): string {
  if (isRefusingAlert(code)) return 'it does not accept SIMPLANE_ES2_LISTEN_CERT';
  if (/HTTP_REQUEST|WRONG_VERSION_NUMBER|PACKET_LENGTH/.test(code)) return 'it does not speak TLS';
  if (/NO_SHARED_CIPHER|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|NO_SUITABLE/.test(code)) {
    return 'it offers no TLS version or cipher that we accept (1.2 or newer)';
  }
  if (code === 'ECONNRESET') return 'it closed the connection during the handshake';
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'it did not complete the handshake in time';
  return 'the handshake failed';
}

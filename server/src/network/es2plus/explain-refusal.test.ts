import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { explainBrokenHandshake, findRefusal } from './explain-refusal.ts';

/** A client with a certificate that the authority did not accept for this reason; null if it did. */
function clientWith(
  authorizationError: string | null,
  issuer = { CN: 'Root' },
  subjectAltName?: string,
): TLSSocket {
  const names = { subject: { CN: 'x'.repeat(300) }, issuer };
  return {
    remoteAddress: '192.0.2.1',
    authorized: authorizationError === null,
    authorizationError,
    getPeerX509Certificate: () => ({
      ...{ validTo: 'Jan  1 00:00:00 2026 GMT', subjectAltName, checkHost: () => undefined },
    }),
    getPeerCertificate: () => names,
  } as unknown as TLSSocket;
}

test.each([
  ['CERT_HAS_EXPIRED', 'its certificate expired on Jan  1 00:00:00 2026 GMT'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'issuer not in SIMPLANE_ES2_LISTEN_CLIENT_CA'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'issuer not in SIMPLANE_ES2_LISTEN_CLIENT_CA'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'issuer not in SIMPLANE_ES2_LISTEN_CLIENT_CA'],
  ['INVALID_CA', 'issuer not in SIMPLANE_ES2_LISTEN_CLIENT_CA'],
  ['CERT_REVOKED', 'its certificate cannot be verified (CERT_REVOKED)'],
])('a client whose certificate fails with %s is refused, and the log says why', (code, cause) => {
  const refusal = findRefusal(clientWith(code), null);
  expect(refusal).toMatchObject({ from: '192.0.2.1', issuer: 'CN=Root', cause });
});

test('what the log quotes of a client’s certificate is bounded', () => {
  const refusal = findRefusal(clientWith(null), ['smdp.example']) as Record<string, string>;
  expect(refusal).toMatchObject({ names: 'none', cause: expect.stringMatching(/SUBJECTS$/) });
  expect(refusal['subject']?.length).toBeLessThanOrEqual(201);
  const long = findRefusal(clientWith(null, { CN: 'y'.repeat(300) }, 'z'.repeat(300)), []);
  expect(long).toMatchObject({ issuer: `CN=${'y'.repeat(197)}…`, names: `${'z'.repeat(200)}…` });
});

test.each([
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'it does not accept SIMPLANE_ES2_LISTEN_CERT'],
  ['ERR_SSL_HTTP_REQUEST', 'it does not speak TLS'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'it does not speak TLS'],
  ['ERR_SSL_NO_SHARED_CIPHER', 'it offers no TLS version or cipher that we accept (1.2 or newer)'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'it offers no TLS version or cipher that we accept (1.2 or newer)'],
  ['ERR_SSL_VERSION_TOO_LOW', 'it offers no TLS version or cipher that we accept (1.2 or newer)'],
  [
    'ERR_SSL_NO_SUITABLE_SIGNATURE_ALGORITHM',
    'it offers no TLS version or cipher that we accept (1.2 or newer)',
  ],
  ['ECONNRESET', 'it closed the connection during the handshake'],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', 'it did not complete the handshake in time'],
  ['ERR_SSL_SOMETHING_ELSE', 'the handshake failed'],
])('a handshake that a client breaks with %s is explained', (code, cause) => {
  expect(explainBrokenHandshake(code)).toBe(cause);
});

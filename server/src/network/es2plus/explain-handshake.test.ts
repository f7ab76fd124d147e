import type { PeerCertificate } from 'node:tls';
import { expect, test } from 'vitest';
import { explainHandshake } from './explain-handshake.ts';

const peer = {
  issuer: { CN: 'Root', O: 'Acme' },
  subject: { CN: 'smdp.example' },
  subjectaltname: 'DNS:other.example',
  valid_to: 'Jan  1 00:00:00 2026 GMT',
} as unknown as PeerCertificate;

test.each<[string, RegExp]>([
  ['ENOTFOUND', /no such host/],
  ['EAI_AGAIN', /no DNS server answers/],
  ['ECONNREFUSED', /nothing listens there/],
  ...['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].map(
    (cause) => [cause, /a route or firewall blocks it/] as [string, RegExp],
  ),
  ['ETIMEDOUT_OF_ANOTHER_KIND', /the TLS handshake failed/],
  ['CERT_HAS_EXPIRED', /expired on Jan {2}1 00:00:00 2026 GMT$/],
  ['CERT_NOT_YET_VALID', /check the clock of this machine/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /for other names \(DNS:other\.example\)/],
  ['HOSTNAME_MISMATCH', /for other names \(DNS:other\.example\)/],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'INVALID_CA'].map(
    (cause) =>
      [cause, /the issuer of its certificate, CN=Root, O=Acme, is not a public CA/] as [string, RegExp],
  ),
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', /does not accept SIMPLANE_ES2_CERT$/],
  ...['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO'].map(
    (cause) => [cause, /does not speak TLS on this port/] as [string, RegExp],
  ),
  ['EPIPE', /closed the connection; it probably does not accept SIMPLANE_ES2_CERT/],
  ['ECONNRESET', /closed the connection; it probably does not accept SIMPLANE_ES2_CERT/],
  ['ERR_SSL_SOMETHING_ELSE', /the TLS handshake failed/],
])('a handshake that fails with %s is explained, with what to check', (cause, says) => {
  expect(explainHandshake({ cause, hasAuthorities: false, peer })).toMatch(says);
});

test('an issuer that is not trusted is named, with the setting to add it to, or to set', () => {
  const explain = (hasAuthorities: boolean) =>
    explainHandshake({ cause: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', hasAuthorities, peer });
  expect(explain(true)).toMatch(/CN=Root, O=Acme, is not in SIMPLANE_ES2_CA; add that CA/);
  expect(explain(false)).toMatch(/CN=Root, O=Acme, is not a public CA; set SIMPLANE_ES2_CA/);
});

test('a certificate that could not be read is explained without it, and one without other names by its own', () => {
  const explain = (cause: string, seen: object | null) =>
    explainHandshake({ cause, hasAuthorities: true, peer: seen as PeerCertificate | null });
  expect(explain('CERT_HAS_EXPIRED', null)).toMatch(/expired on an earlier day$/);
  expect(explain('INVALID_CA', null)).toMatch(/, an unnamed issuer, is not in/);
  expect(explain('HOSTNAME_MISMATCH', { subject: peer.subject })).toMatch(/names \(CN=smdp\.example\)/);
});

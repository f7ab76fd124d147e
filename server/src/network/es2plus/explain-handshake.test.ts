import type { PeerCertificate } from 'node:tls';
import { expect, test } from 'vitest';
import { explainHandshake } from './explain-handshake.ts';

const peer = {
  issuer: { CN: 'Root', O: 'Acme' },
  subject: { CN: 'smdp.example' },
  subjectaltname: 'DNS:other.example',
  valid_to: 'Jan  1 00:00:00 2026 GMT',
} as unknown as PeerCertificate;

test.each([
  ['ENOTFOUND', /no such host/],
  ['EAI_AGAIN', /no DNS server answers/],
  ['ECONNREFUSED', /nothing listens there/],
  ['ETIMEDOUT', /a route or firewall blocks it/],
  ['CERT_HAS_EXPIRED', /expired on Jan {2}1 00:00:00 2026 GMT$/],
  ['CERT_NOT_YET_VALID', /check the clock of this machine/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /for other names \(DNS:other\.example\)/],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', /does not accept SIMPLANE_ES2_CERT$/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /does not speak TLS on this port/],
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

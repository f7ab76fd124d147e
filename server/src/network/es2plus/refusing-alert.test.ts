import { expect, test } from 'vitest';
import { isRefusingAlert } from './refusing-alert.ts';

test.each([
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
  'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  'ERR_SSL_TLSV1_ALERT_ACCESS_DENIED',
])('%s means that the request was not read', (code) => {
  expect(isRefusingAlert(code)).toBe(true);
});

test.each([
  'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC',
  'ERR_SSL_SSLV3_ALERT_UNEXPECTED_MESSAGE',
  'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
  'ERR_SSL_TLSV1_ALERT_USER_CANCELLED',
  'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
  'ECONNRESET',
])('%s does not mean that the request was not read', (code) => {
  expect(isRefusingAlert(code)).toBe(false);
});

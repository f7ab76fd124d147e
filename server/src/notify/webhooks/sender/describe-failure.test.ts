import { errors } from 'undici';
import { expect, test } from 'vitest';
import { describeFailure } from './describe-failure.ts';

const withCode = (code: string) => Object.assign(new Error('x'), { code });

test.each([
  [new errors.HTTPParserError('x'), 'response is not valid HTTP'],
  [new errors.HeadersTimeoutError(), 'timed out'],
  [new errors.ConnectTimeoutError(), 'could not connect in time'],
  [new errors.SocketError('bad upgrade'), 'unexpected interim response (100 or 101)'],
  [new errors.SocketError('other side closed'), 'connection closed'],
  [withCode('ERR_SSL_WRONG_VERSION_NUMBER'), 'the port does not speak TLS'],
  [withCode('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'), 'TLS handshake failed'],
  [withCode('CERT_CHAIN_TOO_LONG'), 'certificate is not valid'],
  [Object.assign(new Error('x'), { cause: withCode('ECONNREFUSED') }), 'connection refused'],
  [withCode('ESOMETHINGNEW'), 'connection failed'],
  [new TypeError('x'), 'connection failed'],
])('%s is described in words', (error, text) => {
  expect(describeFailure(error)).toBe(text);
  expect(text).not.toMatch(/[A-Z]{2,}_|Error/);
});

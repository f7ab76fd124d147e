import { createHmac, createSecretKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { serviceSignature } from './service-signature.ts';

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

test('a signature covers the time and the body, once for each live secret, keyed by the whole secret', () => {
  expect(serviceSignature(['whsec_a', 'whsec_b'], 1_800_000_000, '{"a":1}')).toBe(
    `t=1800000000,v1=${hmac('whsec_a', '1800000000.{"a":1}')},v1=${hmac('whsec_b', '1800000000.{"a":1}')}`,
  );
});

test('a prepared key signs as its text does', () => {
  const key = createSecretKey(Buffer.from('whsec_a'));
  expect(serviceSignature([key], 5, '{}')).toBe(serviceSignature(['whsec_a'], 5, '{}'));
});

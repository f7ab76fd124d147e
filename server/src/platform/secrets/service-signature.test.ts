import { createHmac, createSecretKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { serviceSignature } from './service-signature.ts';

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

test('each live secret signs the time and the body, with the whole secret as the key', () => {
  expect(serviceSignature(['whsec_a', 'whsec_b'], 1_800_000_000, '{"a":1}')).toBe(
    `t=1800000000,v1=${hmac('whsec_a', '1800000000.{"a":1}')},v1=${hmac('whsec_b', '1800000000.{"a":1}')}`,
  );
});

test('a prepared key makes the same signature as its text', () => {
  const key = createSecretKey(Buffer.from('whsec_a'));
  expect(serviceSignature([key], 5, '{}')).toBe(serviceSignature(['whsec_a'], 5, '{}'));
});

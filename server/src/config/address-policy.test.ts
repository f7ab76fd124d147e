import { expect, test } from 'vitest';
import { addressPolicyOf } from './address-policy.ts';
import { readConfig } from './read-config.ts';

const policyOf = (env: Record<string, string>) => addressPolicyOf(readConfig(env).config);
const live = {
  SIMPLANE_MODE: 'live',
  SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
  DATABASE_URL: 'postgresql://db.example.com/x',
};

test.each(['127.0.0.1', '127.0.0.2', '::1', 'localhost'])(
  'a sandbox that only its own machine reaches, at %s, may send to private addresses',
  (HOST) => {
    expect(policyOf({ HOST })).toEqual({ allowsHttp: true, allowsPrivate: true, allowedCidrs: [] });
  },
);

test.each(['0.0.0.0', '::', '10.0.0.1', '203.0.113.5', 'sandbox.example.com'])(
  'a sandbox that others reach, at %s, may not: an account could read what is behind the firewall',
  (HOST) => {
    expect(policyOf({ HOST }).allowsPrivate).toBe(false);
  },
);

test.each([
  ['none', []],
  ['10.1.0.0/16', ['10.1.0.0/16']],
])('the networks that an operator names are all that is allowed, also on loopback: %s', (text, cidrs) => {
  const policy = policyOf({ SIMPLANE_WEBHOOK_ALLOW_CIDRS: text });
  expect(policy).toEqual({ allowsHttp: true, allowsPrivate: false, allowedCidrs: cidrs });
});

test('live mode sends to public addresses with TLS, and to the networks that the operator names', () => {
  expect(policyOf(live)).toEqual({ allowsHttp: false, allowsPrivate: false, allowedCidrs: [] });
  const named = policyOf({ ...live, SIMPLANE_WEBHOOK_ALLOW_CIDRS: '10.1.0.0/16' });
  expect(named).toEqual({ allowsHttp: false, allowsPrivate: false, allowedCidrs: ['10.1.0.0/16'] });
});

import { expect, test } from 'vitest';
import type { AddressPolicy } from '../../../platform/addresses/address-policy.ts';
import { isAllowedAddress } from './is-allowed.ts';

const publicOnly: AddressPolicy = { allowsHttp: false, allowsPrivate: false, allowedCidrs: [] };
const sandbox: AddressPolicy = { ...publicOnly, allowsPrivate: true };
const listing = (...allowedCidrs: string[]): AddressPolicy => ({ ...publicOnly, allowedCidrs });

const publicAddresses = [
  '93.184.215.14',
  '8.8.8.8',
  '2606:4700:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
];
const ownAddresses = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.31.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '::1',
  'fd12::1',
  '::ffff:127.0.0.1',
];
const reservedAddresses = [
  '192.0.2.1',
  '198.18.0.1',
  '240.0.0.1',
  '2001:db8::1',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '4000::1',
];
const neverAddresses = [
  '0.0.0.0',
  '::',
  '169.254.169.254',
  '169.254.1.1',
  '100.100.100.200',
  'fe80::1',
  'fd00:ec2::254',
  '224.0.0.1',
  '255.255.255.255',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::',
  'fe80::1%eth0',
  'nonsense',
];

const allowed = (policy: AddressPolicy, addresses: string[]) =>
  addresses.filter((address) => isAllowedAddress(address, policy).allowed);

test('public addresses are allowed by every policy', () => {
  for (const policy of [publicOnly, sandbox, listing('10.0.0.0/8')]) {
    expect(allowed(policy, publicAddresses)).toEqual(publicAddresses);
  }
});

test('only a sandbox allows loopback and private addresses', () => {
  expect(allowed(publicOnly, ownAddresses)).toEqual([]);
  expect(allowed(sandbox, ownAddresses)).toEqual(ownAddresses);
  expect(allowed(sandbox, reservedAddresses)).toEqual([]);
});

test('a listed network is allowed, and no address outside it', () => {
  const policy = listing('10.1.0.0/16', 'fd12::/16');
  expect(allowed(policy, ['10.0.255.255', '10.1.0.0', '10.1.255.255', '10.2.0.0'])).toEqual([
    '10.1.0.0',
    '10.1.255.255',
  ]);
  expect(allowed(policy, ['fd11::1', 'fd12::1', 'fd13::1'])).toEqual(['fd12::1']);
  expect(allowed(policy, ['::ffff:10.1.0.1', '::ffff:10.2.0.1'])).toEqual(['::ffff:10.1.0.1']);
});

test('a listed IPv4 network does not reach through a translator', () => {
  expect(allowed(listing('10.0.0.0/8'), ['64:ff9b::a00:1', '2002:a00:1::', '::a00:1'])).toEqual([]);
});

test('a listed IPv4-mapped network matches its IPv4 network', () => {
  expect(allowed(listing('::ffff:10.0.0.0/104'), ['10.9.9.9', '192.168.0.1', '127.0.0.1'])).toEqual([
    '10.9.9.9',
  ]);
});

test('no policy allows link-local or metadata addresses', () => {
  const everything = {
    ...sandbox,
    allowedCidrs: ['0.0.0.0/0', '::/0', '169.254.169.254/32', 'fe80::/10', 'fd00:ec2::254/128'],
  };
  expect(allowed(everything, neverAddresses)).toEqual([]);
  expect(allowed(everything, [...ownAddresses, ...reservedAddresses])).toEqual([
    ...ownAddresses,
    ...reservedAddresses,
  ]);
});

test('an invalid list entry allows nothing', () => {
  const malformed = [
    '',
    'none',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/08',
    '10/8',
    '::1/129',
    '*',
  ];
  expect(allowed(listing(...malformed), [...ownAddresses, ...reservedAddresses])).toEqual([]);
});

test('the reason names the range but not the address', () => {
  const verdict = isAllowedAddress('10.20.30.40', publicOnly);
  expect(verdict).toEqual({
    allowed: false,
    reason: 'webhooks are sent only to public addresses, not this one (private network)',
  });
});

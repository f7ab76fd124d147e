import { expect, test } from 'vitest';
import { contains, parseAddress, parseCidr } from './parse-address.ts';

test.each([
  ['0.0.0.0', 32, 0n],
  ['127.0.0.1', 32, 0x7f00_0001n],
  ['255.255.255.255', 32, 0xffff_ffffn],
  ['::', 128, 0n],
  ['::1', 128, 1n],
  ['1::', 128, 1n << 112n],
  ['2001:db8::8:800:200c:417a', 128, 0x2001_0db8_0000_0000_0008_0800_200c_417an],
  ['1:2:3:4:5:6:7:8', 128, 0x0001_0002_0003_0004_0005_0006_0007_0008n],
  ['64:ff9b::192.0.2.33', 128, 0x0064_ff9b_0000_0000_0000_0000_c000_0221n],
  // Mapped: another spelling of IPv4.
  ['::ffff:127.0.0.1', 32, 0x7f00_0001n],
  ['::ffff:7f00:1', 32, 0x7f00_0001n],
  ['::ffff:0:1', 32, 1n],
  ['::fffe:7f00:1', 128, 0xfffe_7f00_0001n],
  ['1::ffff:7f00:1', 128, (1n << 112n) | 0xffff_7f00_0001n],
] as const)('%s is %i bits of %s', (text, bits, value) => {
  expect(parseAddress(text)).toEqual({ bits, value });
});

test.each(['', 'localhost', '1.2.3', '1.2.3.4.5', '256.0.0.1', ':::', '1::2::3', 'fe80::1%eth0', '12345::'])(
  '%j is no address',
  (text) => {
    expect(parseAddress(text)).toBeNull();
  },
);

test.each([
  ['10.0.0.0/8', { bits: 32, value: 0x0a00_0000n, prefix: 8 }],
  ['0.0.0.0/0', { bits: 32, value: 0n, prefix: 0 }],
  ['1.2.3.4/32', { bits: 32, value: 0x0102_0304n, prefix: 32 }],
  ['::/0', { bits: 128, value: 0n, prefix: 0 }],
  ['::1/128', { bits: 128, value: 1n, prefix: 128 }],
  ['::ffff:10.0.0.0/104', { bits: 32, value: 0x0a00_0000n, prefix: 8 }],
  ['::ffff:10.0.0.0/96', { bits: 32, value: 0x0a00_0000n, prefix: 0 }],
] as const)('%s is a network', (text, cidr) => {
  expect(parseCidr(text)).toEqual(cidr);
});

test.each([
  '10.0.0.0',
  '10.0.0.0/',
  '10.0.0.0/33',
  '::1/129',
  '::ffff:10.0.0.0/95',
  '10.0.0.0/08',
  '10.0.0.0/8/8',
  '10.0.0.0/x8',
  '10.0.0.0/8x',
  '10.0.0.0/-1',
  '/8',
  'example.com/8',
])('%s is no network', (text) => {
  expect(parseCidr(text)).toBeNull();
});

test.each([
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['10.9.8.7/8', '10.0.0.1', true],
  ['1.2.3.4/32', '1.2.3.4', true],
  ['1.2.3.4/32', '1.2.3.5', false],
  ['0.0.0.0/0', '255.255.255.255', true],
  ['::/0', '255.255.255.255', false],
  ['0.0.0.0/0', '::', false],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::', false],
])('%s contains %s: %j', (cidr, address, expected) => {
  const [network, one] = [parseCidr(cidr), parseAddress(address)];
  expect(network && one && contains(network, one)).toBe(expected);
});

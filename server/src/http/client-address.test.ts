import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { createAddressReader } from './client-address.ts';

function addressOf(trusted: string[], remoteAddress: string | undefined, forwardedFor?: string): string {
  const request = {
    raw: { socket: { remoteAddress } },
    headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
    get ip() {
      return remoteAddress ?? '';
    },
  };
  createAddressReader(trusted)(request as unknown as FastifyRequest);
  return request.ip;
}

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['fe80::1%eth0', 'fe80::1'],
  [undefined, ''],
])('without trusted proxies, a request from %s comes from %s, whatever it says', (socket, expected) => {
  expect(addressOf([], socket)).toBe(expected);
  expect(addressOf([], socket, '198.51.100.1')).toBe(expected);
});

const proxies = ['10.0.0.0/8', 'fd00::/8'];

test.each([
  // From a proxy: what it appended.
  ['10.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['fd00::1', '2001:DB8::1', '2001:db8::1'],
  ['10.0.0.1', '203.0.113.7, 10.0.0.2', '203.0.113.7'],
  ['10.0.0.1', '::ffff:203.0.113.7', '203.0.113.7'],
  ['10.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
  ['10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
  ['10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
  // What the client itself sent stands before that.
  ['10.0.0.1', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
  ['10.0.0.1', '10.0.0.9, 203.0.113.7', '203.0.113.7'],
  // From anyone else: nothing.
  ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['203.0.113.9', '10.0.0.1', '203.0.113.9'],
  // Nothing that can be read.
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', 'unknown', '10.0.0.1'],
  ['10.0.0.1', '203.0.113.7, _hidden', '10.0.0.1'],
  ['10.0.0.1', '10.0.0.2', '10.0.0.2'],
  ['10.0.0.1', `203.0.113.7${', 10.0.0.2'.repeat(19)}`, '203.0.113.7'],
  ['10.0.0.1', `203.0.113.7${', 10.0.0.2'.repeat(20)}`, '10.0.0.2'],
  ['10.0.0.1', `203.0.113.7${', 10.0.0.2'.repeat(500)}`, '10.0.0.2'],
])('behind trusted proxies, a request from %s for %s comes from %s', (socket, forwardedFor, expected) => {
  expect(addressOf(proxies, socket, forwardedFor)).toBe(expected);
});

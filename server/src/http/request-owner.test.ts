import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { ownerOf } from './request-owner.ts';

const requestOf = (caller: object | null, ip: string) => ({ caller, ip }) as unknown as FastifyRequest;

test('a request counts for the account of its key, or for the operators', () => {
  expect(ownerOf(requestOf({ account: { uuid: 'a' } }, '192.0.2.1'))).toBe('a');
  const operator = ownerOf({ ...requestOf({ account: null }, '192.0.2.1'), account: { uuid: 'a' } } as never);
  expect(operator).toBe(ownerOf(requestOf({ account: null }, '192.0.2.2')));
  expect(operator).not.toBe('a');
});

test('a request without a key counts for its address', () => {
  expect(ownerOf(requestOf(null, '192.0.2.1'))).not.toBe(ownerOf(requestOf(null, '192.0.2.2')));
  expect(ownerOf(requestOf(null, '2001:db8::1'))).toBe(ownerOf(requestOf(null, '2001:db8::2')));
});

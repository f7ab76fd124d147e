import { expect, test } from 'vitest';
import { DatabaseUnavailable } from '../platform/db/unavailable.ts';
import { toAppError } from './render-error.ts';

test('while the database is away, clients are told to retry, and when', () => {
  const thrown = new DatabaseUnavailable('no server accepts writes');
  const error = toAppError(thrown);
  expect([error.code, error.headers, error.cause]).toEqual(['unavailable', { 'Retry-After': '1' }, thrown]);
  expect(toAppError(new TypeError('a bug')).code).toBe('internal');
});

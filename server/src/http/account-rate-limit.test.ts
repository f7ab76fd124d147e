import { expect, test } from 'vitest';
import { createAccountRateLimiter } from './account-rate-limit.ts';

test('an account’s own rate is shared by its keys, and a new rate applies at once', () => {
  const limiter = createAccountRateLimiter(() => 0);
  expect(limiter.take('a', 1)).toEqual({
    'RateLimit-Policy': '"account";q=2;w=2',
    RateLimit: '"account";r=1;t=1',
  });
  limiter.take('a', 1);
  expect(() => limiter.take('a', 1)).toThrow('This account may send 1 requests per second');
  expect(limiter.take('b', 1)).toMatchObject({ RateLimit: '"account";r=1;t=1' });
  expect(limiter.take('a', 5)).toMatchObject({ RateLimit: '"account";r=9;t=1' });
});

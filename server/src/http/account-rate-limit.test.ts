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

test('beyond 10,000 accounts only the oldest is forgotten', () => {
  const limiter = createAccountRateLimiter(() => 0);
  for (let n = 0; n < 10_000; n++) limiter.take(`account ${n}`, 1);
  limiter.take('one more', 1);
  expect(limiter.take('account 1', 1)).toMatchObject({ RateLimit: '"account";r=0;t=2' });
  expect(limiter.take('account 0', 1)).toMatchObject({ RateLimit: '"account";r=1;t=1' });
});

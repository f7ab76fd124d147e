import { expect, test } from 'vitest';
import { AppError } from '../platform/app-error.ts';
import { createRateLimiter } from './rate-limit.ts';
import { createTokenBuckets } from './token-buckets.ts';

function bucketsAt(options: { perSecond: number; burst: number; limit?: number }) {
  let nowMs = 1_000_000;
  const bucketOf = createTokenBuckets({ ...options, monotonicMs: () => nowMs });
  return { bucketOf, wait: (ms: number) => (nowMs += ms) };
}

test('a bucket starts full, fills at its rate and never above its burst', () => {
  const { bucketOf, wait } = bucketsAt({ perSecond: 10, burst: 20 });
  const bucket = bucketOf('a');
  expect(bucket.tokens).toBe(20);
  bucket.tokens = 0;
  wait(500);
  expect(bucketOf('a').tokens).toBe(5);
  wait(100);
  expect(bucketOf('a').tokens).toBe(6);
  wait(60_000);
  expect(bucketOf('a').tokens).toBe(20);
});

test('beyond the limit only the oldest bucket is forgotten', () => {
  const { bucketOf } = bucketsAt({ perSecond: 1, burst: 5, limit: 2 });
  for (const id of ['a', 'b']) bucketOf(id).tokens = 0;
  expect([bucketOf('a').tokens, bucketOf('b').tokens]).toEqual([0, 0]);
  bucketOf('c').tokens = 1;
  expect(bucketOf('b').tokens).toBe(0);
  expect(bucketOf('c').tokens).toBe(1);
  expect(bucketOf('a').tokens).toBe(5);
});

test('a refusal carries the limit, the remaining requests and when to retry', () => {
  let nowMs = 0;
  const limiter = createRateLimiter({ perSecond: 2, monotonicMs: () => nowMs });
  for (let i = 0; i < 3; i++) limiter.take('key');
  expect(limiter.take('key')).toEqual({ 'RateLimit-Policy': '"key";q=4;w=2', RateLimit: '"key";r=0;t=2' });
  const refused = () => {
    try {
      return limiter.take('key');
    } catch (error) {
      return error as AppError;
    }
  };
  expect(refused()).toBeInstanceOf(AppError);
  expect(refused()).toMatchObject({
    code: 'rate_limited',
    headers: { 'RateLimit-Policy': '"key";q=4;w=2', RateLimit: '"key";r=0;t=2', 'Retry-After': '1' },
  });
  nowMs = 499;
  expect(refused()).toBeInstanceOf(AppError);
  nowMs = 500;
  expect(refused()).toMatchObject({ RateLimit: '"key";r=0;t=2' });
});

test('the rate limit follows real time when no clock is given', () => {
  const limiter = createRateLimiter({ perSecond: 1 });
  limiter.take('key');
  limiter.take('key');
  expect(() => limiter.take('key')).toThrow(AppError);
});

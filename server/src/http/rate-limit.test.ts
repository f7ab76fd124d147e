import { expect, test } from 'vitest';
import { createRateLimiter } from './rate-limit.ts';

function limiterAt(perSecond: number) {
  let nowMs = 0;
  const limiter = createRateLimiter({ perSecond, monotonicMs: () => nowMs });
  const allowed = (key: string) => {
    try {
      return limiter.take(key);
    } catch {
      return null;
    }
  };
  return { allowed, wait: (ms: number) => (nowMs += ms) };
}

test('a key may send a burst of twice its rate, then its rate', () => {
  const { allowed, wait } = limiterAt(100);
  const burst = Array.from({ length: 250 }, () => allowed('key'));
  expect(burst.filter(Boolean)).toHaveLength(200);
  wait(1_000);
  expect(Array.from({ length: 150 }, () => allowed('key')).filter(Boolean)).toHaveLength(100);
});

test('a key over its limit does not slow another', () => {
  const { allowed } = limiterAt(1);
  while (allowed('busy'));
  expect(allowed('idle')).toEqual({ 'RateLimit-Policy': '"key";q=2;w=2', RateLimit: '"key";r=1;t=1' });
});

test('tokens never exceed the burst, however long a key was idle', () => {
  const { allowed, wait } = limiterAt(5);
  allowed('key');
  wait(3_600_000);
  expect(Array.from({ length: 20 }, () => allowed('key')).filter(Boolean)).toHaveLength(10);
});

test('0 is off', () => {
  const { allowed } = limiterAt(0);
  expect(Array.from({ length: 10_000 }, () => allowed('key')).filter(Boolean)).toHaveLength(10_000);
});

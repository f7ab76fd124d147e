import { AppError } from '../platform/app-error.ts';
import { createTokenBuckets } from './token-buckets.ts';

export type RateLimiter = { take(id: string): Record<string, string> };

type Options = { perSecond: number; of?: 'key' | 'account'; monotonicMs?: () => number };

/** A token bucket per id in this process: `perSecond` on average, with a burst of twice that. Off if `perSecond` is 0. */
export function createRateLimiter({
  perSecond,
  of = 'key',
  monotonicMs = () => performance.now(),
}: Options): RateLimiter {
  if (perSecond === 0) return { take: () => ({}) };
  const burst = perSecond * 2;
  const refillSeconds = Math.ceil(burst / perSecond);
  const policy = `"${of}";q=${burst};w=${refillSeconds}`;
  const bucketOf = createTokenBuckets({ perSecond, burst, monotonicMs });

  return {
    take(id) {
      const bucket = bucketOf(id);
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      const headers = {
        'RateLimit-Policy': policy,
        RateLimit: `"${of}";r=${Math.floor(bucket.tokens)};t=${Math.ceil((burst - bucket.tokens) / perSecond)}`,
      };
      if (allowed) return headers;
      throw new AppError(
        'rate_limited',
        `This ${of} may send ${perSecond} requests per second, with a burst of ${burst}; retry after a second.`,
        { headers: { ...headers, 'Retry-After': '1' } },
      );
    },
  };
}

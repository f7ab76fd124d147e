import { AppError } from '../app-error.ts';
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

/** Accounts whose limiter is kept. The one created first is dropped first, which gives that account a new burst. */
const maxAccounts = 10_000;

/** For accounts with a rate of their own, which all keys of an account share. A changed rate starts a new bucket. */
export function createAccountRateLimiter(monotonicMs: () => number = () => performance.now()) {
  const limiters = new Map<string, RateLimiter & { perSecond: number }>();
  return {
    take(accountUuid: string, perSecond: number): Record<string, string> {
      let limiter = limiters.get(accountUuid);
      if (limiter?.perSecond !== perSecond) {
        limiter = { perSecond, ...createRateLimiter({ perSecond, of: 'account', monotonicMs }) };
        if (limiters.size >= maxAccounts) limiters.delete(limiters.keys().next().value as string);
        limiters.set(accountUuid, limiter);
      }
      return limiter.take(accountUuid);
    },
  };
}

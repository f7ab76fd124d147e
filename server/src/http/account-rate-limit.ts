import { createRateLimiter, type RateLimiter } from './rate-limit.ts';

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

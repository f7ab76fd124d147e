import { parseAddress } from '../platform/addresses/parse-address.ts';
import { AppError } from '../platform/app-error.ts';
import { createTokenBuckets, takeToken } from './token-buckets.ts';

export type UnknownKeyLimit = {
  /** Throws if this address is over its limit. */
  take(address: string | undefined): void;
  /** Returns the token if the key turned out to be valid. */
  refund(address: string | undefined): void;
};

/** `of`: what is guessed, for the error. */
type Options = { of?: string; monotonicMs?: () => number };

const burstSeconds = 5;
const maxAddresses = 10_000;

/**
 * A token bucket per client address for lookups of keys that are not cached. Cached keys take no token, so a valid client that
 * shares an address with someone guessing keys is still served. Off if `perSecond` is 0.
 */
export function createUnknownKeyLimit(
  perSecond = 20, // a deployment with a wrong key, and few enough guesses to cost nothing
  { of = 'API keys', monotonicMs = () => performance.now() }: Options = {},
): UnknownKeyLimit {
  if (perSecond === 0) return { take() {}, refund() {} };
  const burst = perSecond * burstSeconds;
  const buckets = createTokenBuckets({ perSecond, burst, limit: maxAddresses, monotonicMs });
  const bucketOf = (address: string | undefined) => buckets(networkOf(address ?? ''));

  return {
    take(address) {
      if (!takeToken(bucketOf(address))) throw tooMany(of, perSecond, burst);
    },
    refund(address) {
      bucketOf(address).tokens += 1;
    },
  };
}

function tooMany(of: string, perSecond: number, burst: number): AppError {
  return new AppError(
    'rate_limited',
    `This address sent too many unknown ${of}; the limit is ${perSecond} per second. Check yours, then retry after a second.`,
    {
      headers: {
        'RateLimit-Policy': `"address";q=${burst};w=${burstSeconds}`,
        RateLimit: '"address";r=0;t=1',
        'Retry-After': '1',
      },
    },
  );
}

/** An IPv6 host can use any address in its /64, so the whole /64 counts as one address. */
export function networkOf(address: string): string {
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1);
  const parsed = parseAddress(address.split('%', 1)[0] ?? '');
  if (parsed === null) return '';
  const groups = [112n, 96n, 80n, 64n].map((shift) => (parsed.value >> shift) & 0xffffn);
  return groups.map((group) => group.toString(16)).join(':');
}

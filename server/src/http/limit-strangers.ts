import { parseAddress } from '../addresses/parse-address.ts';
import { AppError } from '../app-error.ts';
import { createTokenBuckets } from './token-buckets.ts';

export type StrangerLimit = {
  /** Throws when this address has had its share of look-ups. */
  take(address: string | undefined): void;
  /** The key was good after all. */
  giveBack(address: string | undefined): void;
};

const burstSeconds = 5;
const mostAddresses = 10_000;

/**
 * A token bucket an address for look-ups of keys that this process does not know. Keys in use are remembered and take nothing,
 * so whoever shares an address with somebody who guesses keys is served. Off when `perSecond` is 0.
 */
export function createStrangerLimit(
  perSecond: number,
  monotonicMs: () => number = () => performance.now(),
): StrangerLimit {
  if (perSecond === 0) return { take() {}, giveBack() {} };
  const burst = perSecond * burstSeconds;
  const buckets = createTokenBuckets({ perSecond, burst, limit: mostAddresses, monotonicMs });
  const bucketOf = (address: string | undefined) => buckets(networkOf(address ?? ''));

  return {
    take(address) {
      const bucket = bucketOf(address);
      if (bucket.tokens < 1) throw tooMany(perSecond, burst);
      bucket.tokens -= 1;
    },
    giveBack(address) {
      bucketOf(address).tokens += 1;
    },
  };
}

function tooMany(perSecond: number, burst: number): AppError {
  return new AppError(
    'rate_limited',
    `This address sent too many unknown API keys: ${perSecond} a second are looked up. Check the key, wait a second and send it again.`,
    {
      headers: {
        'RateLimit-Policy': `"address";q=${burst};w=${burstSeconds}`,
        RateLimit: '"address";r=0;t=1',
        'Retry-After': '1',
      },
    },
  );
}

/** An IPv6 host has a whole /64 to choose its addresses from, so that counts as one. */
export function networkOf(address: string): string {
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1);
  const parsed = parseAddress(address.split('%', 1)[0] ?? '');
  if (parsed === null) return '';
  const groups = [112n, 96n, 80n, 64n].map((shift) => (parsed.value >> shift) & 0xffffn);
  return groups.map((group) => group.toString(16)).join(':');
}

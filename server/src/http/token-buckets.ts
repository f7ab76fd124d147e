export type TokenBucket = { tokens: number; atMs: number };

type Options = {
  perSecond: number;
  burst: number;
  /** Most buckets to keep. The oldest is dropped first, because it has most likely refilled. */
  limit?: number;
  monotonicMs: () => number;
};

/** Takes one token, if there is one. */
export function takeToken(bucket: TokenBucket): boolean {
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

/** Returns the refilled token bucket of an id. The caller subtracts the tokens it takes. */
export function createTokenBuckets({
  perSecond,
  burst,
  limit = Number.POSITIVE_INFINITY,
  monotonicMs,
}: Options): (id: string) => TokenBucket {
  const buckets = new Map<string, TokenBucket>();
  return (id) => {
    const nowMs = monotonicMs();
    let bucket = buckets.get(id);
    if (!bucket) {
      if (buckets.size >= limit) buckets.delete(buckets.keys().next().value as string);
      bucket = { tokens: burst, atMs: nowMs };
      buckets.set(id, bucket);
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * perSecond);
    bucket.atMs = nowMs;
    return bucket;
  };
}

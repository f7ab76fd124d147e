export type TokenBucket = { tokens: number; atMs: number };

type Options = {
  perSecond: number;
  burst: number;
  /** The bucket made first is forgotten first: it has most likely filled up again. */
  limit?: number;
  monotonicMs: () => number;
};

/** A token bucket for each id, as full as it is now. The caller takes from it. */
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

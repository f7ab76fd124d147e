const bucketsPerDoubling = 4;

/** Bucket of a duration that is not known. */
export const unknownBucket = -1;

/** The bucket of a duration: each is 19 % longer than the one before, so 100 of them reach from 1 ms to more than a day. */
export function bucketOf(durationMs: number): number {
  return durationMs < 1 ? 0 : 1 + Math.floor(bucketsPerDoubling * Math.log2(durationMs));
}

/** The middle of a bucket, at most a tenth away from each duration in it. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / bucketsPerDoubling));
}

/** The duration that this fraction of all known ones do not exceed; null if none is known. */
export function quantile(buckets: ReadonlyMap<number, number>, fraction: number): number | null {
  const known = [...buckets].filter(([bucket]) => bucket !== unknownBucket).sort(([a], [b]) => a - b);
  const total = known.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of known) {
    seen += count;
    if (seen >= total * fraction) return middleOf(bucket);
  }
  return null;
}

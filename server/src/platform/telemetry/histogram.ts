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

/** The duration in ms that this share of all known ones do not exceed; null if none is known. */
export function quantile(counts: Iterable<[bucket: number, count: number]>, share: number): number | null {
  const known = [...counts]
    .filter(([bucket, count]) => bucket !== unknownBucket && count > 0)
    .sort(([a], [b]) => a - b);
  const total = known.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of known) {
    seen += count;
    if (seen >= total * share) return middleOf(bucket);
  }
  return null;
}

/** Adds to the counts of buckets 0, 1, 2 …, which may be fewer than the bucket needs. */
export function addTo(counts: number[], bucket: number, count: number): void {
  while (counts.length <= bucket) counts.push(0);
  counts[bucket] = (counts[bucket] ?? 0) + count;
}

export function addAll(counts: number[], more: readonly number[]): void {
  for (const [bucket, count] of more.entries()) addTo(counts, bucket, count);
}

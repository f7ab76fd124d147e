// Bucket 0 is up to 1 ms; bucket n up to 2^(n/4) ms, so the middle of a bucket is within 10 % of every duration in it. The last one
// starts at four minutes, far above any timeout.
const bucketsPerDoubling = 4;
const lastBucket = 72;

/** The bucket that counts this duration. */
export function bucketOf(durationMs: number): number {
  if (durationMs <= 1) return 0;
  return Math.min(lastBucket, Math.ceil(bucketsPerDoubling * Math.log2(durationMs)));
}

/** The duration in ms that this share of all attempts did not exceed, or null without attempts. */
export function percentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = Math.ceil(total * share);
  const bucket = counts.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return bucket === 0 ? 1 : Math.round(2 ** ((bucket - 0.5) / bucketsPerDoubling));
}

/** Adds `more` to `counts`, which may be shorter: buckets after the end are empty. */
export function addCounts(counts: number[], more: readonly number[]): void {
  for (const [bucket, count] of more.entries()) addTo(counts, bucket, count);
}

export function addTo(counts: number[], bucket: number, count: number): void {
  while (counts.length <= bucket) counts.push(0);
  counts[bucket] = (counts[bucket] ?? 0) + count;
}

import { createTokenBuckets, takeToken } from '../token-buckets.ts';

// Of one link, in each process. Whoever has a link chooses how often they open it, so what they fill and cost is bounded.
const requestsPerSecond = { perSecond: 5, burst: 100 };
const viewsPerHour = 60;
const codesPerHour = 20;
const maxLinks = 10_000;

/** Each function takes one for the link, and tells whether there was one left. */
export function createLinkLimits(monotonicMs: () => number = () => performance.now()) {
  const limitBy = (rate: { perSecond: number; burst: number }) => {
    const bucketOf = createTokenBuckets({ ...rate, limit: maxLinks, monotonicMs });
    return (linkUuid: string) => takeToken(bucketOf(linkUuid));
  };
  return {
    takeRequest: limitBy(requestsPerSecond),
    /** Those beyond it show the page, but are not recorded. */
    takeView: limitBy({ perSecond: viewsPerHour / 3_600, burst: viewsPerHour }),
    takeCode: limitBy({ perSecond: codesPerHour / 3_600, burst: codesPerHour }),
  };
}

import type { Deployment } from '../support/deployment.ts';
import { latencyOf } from '../support/latency.ts';
import { startFeedReader, startGenerator } from '../support/load.ts';
import { type Result, round } from '../support/scenario.ts';

const perSecond = 3_000;
const posted = 100;
const forMs = 20_000;

/**
 * One account with 3,000 events a second: the rate at which a stream gets them, from the first commit to the last line. A
 * hundred a second come through the API, which wakes the sequencer; the others are inserted in the database.
 */
export async function feedRate(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const { url, key, databaseUrl } = deployment;
  const [posting, inserting] = [startGenerator(), startGenerator()];
  const reader = startFeedReader();
  try {
    await reader.followStream({ url, key });
    progress(`${perSecond} events a second for ${forMs / 1_000} s`);
    const startedAtMs = performance.now();
    const [one, other] = await Promise.all([
      posting.postEvents({ url, key, perSecond: posted, forMs, type: 'bench.posted' }),
      inserting.insertEvents({ databaseUrl, perSecond: perSecond - posted, forMs }),
    ]);
    const count = one.count + other.count;
    await reader.expect(count);
    const value = (count / (performance.now() - startedAtMs)) * 1_000;
    const { p50, p99 } = await latencyOf(databaseUrl, await reader.receipts());
    return {
      value: Math.round(value),
      unit: 'events/s',
      ceiling: perSecond,
      ratio: round(value / perSecond),
      goal: '≥ 0.95',
      p50_ms: round(p50),
      p99_ms: round(p99),
      rounds: 1,
    };
  } finally {
    await Promise.all([posting.stop(), inserting.stop(), reader.stop()]);
  }
}

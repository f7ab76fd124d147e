import type { Deployment, Target } from '../support/deployment.ts';
import { compareToBounds, latencyOf } from '../support/latency.ts';
import { type FeedReader, type Generator, startFeedReader, startGenerator } from '../support/load.ts';
import { type Result, round } from '../support/scenario.ts';

const perSecond = 100;
const forMs = 30_000;
const warmUpMs = 3_000;
const boundsMs = { p50: 5, p99: 25 };

/**
 * Latency of an event from its commit to its line in a stream of the feed, in one process. The details have the same for an
 * `api` and a `worker` process, where two NOTIFY lie between commit and line.
 */
export async function feedLatency(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const apart = await deployment.createDatabase('apart');
  const api = await deployment.startServer({ SIMPLANE_ROLE: 'api' }, apart);
  await deployment.startServer({ SIMPLANE_ROLE: 'worker' }, apart);
  const generator = startGenerator();
  const readers = [startFeedReader(), startFeedReader()] as const;
  try {
    progress(`${perSecond} events a second for ${forMs / 1_000} s, one process`);
    const together = await measure({ generator, reader: readers[0] }, deployment);
    progress(`${perSecond} events a second for ${forMs / 1_000} s, two processes`);
    const { p50, p99 } = await measure({ generator, reader: readers[1] }, api);
    return {
      ...compareToBounds(together, boundsMs),
      details: { between_processes_p50_ms: round(p50), between_processes_p99_ms: round(p99) },
    };
  } finally {
    for (const reader of readers) await reader.stop();
    await generator.stop();
  }
}

type Load = { generator: Generator; reader: FeedReader };

async function measure({ generator, reader }: Load, { url, key, databaseUrl }: Target) {
  const post = async (ms: number) => {
    await reader.reset();
    const { count } = await generator.postEvents({ url, key, perSecond, forMs: ms, type: 'bench.measured' });
    await reader.expect(count);
  };
  await reader.followStream({ url, key });
  await post(warmUpMs);
  await post(forMs);
  return latencyOf(databaseUrl, await reader.receipts());
}

import { createEndpoint } from '../support/delivering.ts';
import { type Deployment, runSql } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import { percentile, type Result, round } from '../support/scenario.ts';

const perSecond = 100;
const forMs = 60_000;
const type = 'bench.measured';
const boundsMs = { p50: 2, p99: 10 };

/**
 * Latency of an event from its commit timestamp in PostgreSQL to the receiver. There is no ceiling: the bounds are 5 ms for
 * p50 and 50 ms for p99, and the result is the one closer to its bound.
 */
export async function latencyAt100(
  deployment: Deployment,
  progress: (text: string) => void,
): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  try {
    await createEndpoint(deployment, receiver.url, [type]);
    const { url, key } = deployment;
    progress('warming up');
    await generator.postEvents({ url, key, perSecond, forMs: 3_000, type });
    await receiver.expect((3_000 / 1_000) * perSecond);
    await receiver.reset();
    progress(`${perSecond} events a second for ${forMs / 1_000} s`);
    const { count } = await generator.postEvents({ url, key, perSecond, forMs, type });
    await receiver.expect(count);
    return summarize(await latencies(deployment, await receiver.receipts()));
  } finally {
    await receiver.stop();
    await generator.stop();
  }
}

async function latencies({ databaseUrl }: Deployment, receipts: { id: string; atMs: number }[]) {
  const rows = await runSql<{ id: string; committed_ms: number }>(
    databaseUrl,
    `select body::json ->> 'id' as id, (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8 as committed_ms
     from events`,
  );
  const committed = new Map(rows.map(({ id, committed_ms: atMs }) => [id, atMs]));
  return receipts.map(({ id, atMs }) => atMs - (committed.get(id) as number)).sort((a, b) => a - b);
}

function summarize(sorted: number[]): Result {
  const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  const isMedian = p50 / boundsMs.p50 > p99 / boundsMs.p99;
  const [value, ceiling] = isMedian ? [p50, boundsMs.p50] : [p99, boundsMs.p99];
  return {
    value: round(value),
    unit: isMedian ? 'ms p50' : 'ms p99',
    ceiling,
    ratio: round(value / ceiling),
    goal: '≤ 1',
    p50_ms: round(p50),
    p99_ms: round(p99),
    rounds: 1,
  };
}

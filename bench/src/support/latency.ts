import { runSql } from './deployment.ts';
import { percentile, type Result, round } from './scenario.ts';

type Receipt = { id: string; atMs: number };
type Latency = { p50: number; p99: number };

/** Latencies from the commit of each event, by PostgreSQL's own record of it, to its receipt. */
export async function latencyOf(databaseUrl: string, receipts: Receipt[]): Promise<Latency> {
  const rows = await runSql<{ id: string; committed_ms: number }>(
    databaseUrl,
    `select body::json ->> 'id' as id, (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8 as committed_ms
     from events`,
  );
  const committed = new Map(rows.map(({ id, committed_ms: atMs }) => [id, atMs]));
  const sorted = receipts.map(({ id, atMs }) => atMs - (committed.get(id) as number)).sort((a, b) => a - b);
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}

/** There is no ceiling: the result is the percentile that is closer to its bound. */
export function compareToBounds({ p50, p99 }: Latency, boundsMs: Latency): Result {
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

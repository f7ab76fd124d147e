import { alternate } from './alternate.ts';
import { runSql } from './deployment.ts';
import type { Result } from './scenario.ts';

const requestsPerRound = 40;
// The backlog of the scenarios is larger than what an overview counts.
const mostCounted = 10_000;

type Overviews = {
  url: string;
  key: string;
  /** The open orders that an answer counts, to see that it is an overview and complete. */
  countIn(overview: unknown): number | undefined;
};

/** Overviews one after the other, compared to the 50 ms that one may take. */
export function compareToPromise(overviews: Overviews, progress: (text: string) => void): Promise<Result> {
  return alternate(
    { value: () => timeOverviews(overviews), ceiling: async () => 50 },
    { rounds: 7, unit: 'ms an overview', goal: '≤ 1', progress },
  );
}

/** Milliseconds an overview. */
export async function timeOverviews({ url, key, countIn }: Overviews): Promise<number> {
  const startedAtMs = performance.now();
  for (let i = 0; i < requestsPerRound; i++) {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
    const overview: unknown = await response.json();
    if (countIn(overview) !== mostCounted) throw new Error(`${response.status}: ${JSON.stringify(overview)}`);
  }
  return (performance.now() - startedAtMs) / requestsPerRound;
}

/** The counts of a busy month: each hour has 20 different durations per stage and ten codes of failures. */
export async function storeCounts(databaseUrl: string, account: string): Promise<void> {
  await runSql(
    databaseUrl,
    `insert into order_counts (account_id, hour, stage, code, bucket, count)
     select ${account}, date_trunc('hour', now()) - n * interval '1 hour', stage, code, bucket, 400
     from generate_series(0, 743) n
     cross join unnest('{provisioned,downloaded,installed,active}'::text[]) stage
     cross join (
       select '' as code, bucket from generate_series(30, 49) bucket
       union all
       select 'code_' || code, -1 from generate_series(1, 10) code
     ) kinds`,
  );
}

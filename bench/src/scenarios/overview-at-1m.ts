import { runSql } from '../support/deployment.ts';
import type { Million } from '../support/million.ts';
import { compareToPromise, storeCounts, timeOverviews } from '../support/overviews.ts';
import { type Result, round } from '../support/scenario.ts';

const countIn = (overview: unknown) => (overview as { open_count?: number }).open_count;

/** Time of the overview of an account that had a million orders, compared to the 50 ms that it may take. */
export async function overviewAtAMillion(
  { full }: Million,
  progress: (text: string) => void,
): Promise<Result> {
  progress('storing the counts of a busy month, and a backlog of orders');
  await fill(full.databaseUrl);
  try {
    const until = Math.floor(Date.now() / 1_000);
    const overviews = { url: `${full.url}/v1/overview`, key: full.key, countIn };
    const result = await compareToPromise(overviews, progress);
    const ofMonth = await timeOverviews({
      ...overviews,
      url: `${overviews.url}?from=${until - 743 * 3_600}`,
    });
    return { ...result, details: { month_ms: round(ofMonth) } };
  } finally {
    await runSql(full.databaseUrl, 'truncate execution_queue, order_counts');
  }
}

/** The backlog is twice what an overview counts. */
async function fill(databaseUrl: string): Promise<void> {
  const account = '(select id from accounts)';
  await storeCounts(databaseUrl, account);
  await runSql(
    databaseUrl,
    `insert into execution_queue (account_id, id, type, input, due_at, created_at)
     select ${account}, uuid_v7(now() - n * interval '1 millisecond'), 'esim.provision', '{}', now() + interval '1 day', now()
     from generate_series(1, 20000) n`,
  );
  for (const table of ['order_counts', 'execution_queue'])
    await runSql(databaseUrl, `vacuum (analyze) ${table}`);
}

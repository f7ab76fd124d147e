import { createHash } from 'node:crypto';
import { runSql } from '../support/deployment.ts';
import type { Million } from '../support/million.ts';
import { compareToPromise, storeCounts } from '../support/overviews.ts';
import type { Result } from '../support/scenario.ts';

const operatorKey = 'sp_test_bench_of_the_operator';

const countIn = (overview: unknown) =>
  (overview as { backlogs?: { executions: { count: number } } }).backlogs?.executions.count;

/** Time of the operator's overview with a million orders stored, and as many open orders and deliveries of 1,000 endpoints. */
export async function operatorOverviewAtAMillion(
  { full }: Million,
  progress: (text: string) => void,
): Promise<Result> {
  progress('storing a million open orders and deliveries, and the counts of a day');
  await fill(full.databaseUrl);
  try {
    const overviews = { url: `${full.url}/v1/operator/overview`, key: operatorKey, countIn };
    return await compareToPromise(overviews, progress);
  } finally {
    await runSql(
      full.databaseUrl,
      `truncate execution_queue, order_counts, delivery_queue;
       delete from webhook_endpoints where url = 'https://bench.example.com/';
       delete from api_keys where account_id is null`,
    );
  }
}

/** All of it is due. There is no worker. */
async function fill(databaseUrl: string): Promise<void> {
  const hash = createHash('sha256').update(operatorKey).digest('hex');
  const account = '(select id from accounts)';
  await storeCounts(databaseUrl, `'00000000-0000-0000-0000-000000000000'::uuid`);
  for (const statement of [
    `insert into api_keys (id, hash, name, scopes, last4, created_at)
     values (gen_random_uuid(), '\\x${hash}', 'Bench', '{operator}', 'ator', now())`,
    `insert into execution_queue (account_id, id, type, input, created_at)
     select ${account}, uuid_v7(now() - n * interval '1 millisecond'), 'esim.provision', '{}', now()
     from generate_series(1, 1000000) n`,
    `insert into webhook_endpoints (account_id, id, url, enabled_event_types, status, api_version, metadata, created_at)
     select id, uuid_v7(now() - n * interval '1 millisecond'), 'https://bench.example.com/', '{*}', 'enabled', api_version, '{}', now()
     from accounts cross join generate_series(1, 1000) n`,
    `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
     select endpoint.account_id, uuid_v7(now() - n * interval '1 millisecond'), gen_random_uuid(), endpoint.id, 'event', now()
     from (select account_id, id from webhook_endpoints where url = 'https://bench.example.com/') endpoint
     cross join generate_series(1, 1000) n`,
  ])
    await runSql(databaseUrl, statement);
  for (const table of ['order_counts', 'execution_queue', 'delivery_queue', 'webhook_endpoints'])
    await runSql(databaseUrl, `vacuum (analyze) ${table}`);
}

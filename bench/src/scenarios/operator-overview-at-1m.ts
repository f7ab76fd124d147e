import { createHash } from 'node:crypto';
import { alternate } from '../support/alternate.ts';
import { runSql, type Target } from '../support/deployment.ts';
import type { Million } from '../support/million.ts';
import type { Result } from '../support/scenario.ts';

const requestsPerRound = 40;
const promisedMs = 50;
const operatorKey = 'sp_test_bench_of_the_operator';

/** Time of the operator's overview with a million orders stored, and as many open orders and deliveries of 1,000 endpoints. */
export async function operatorOverviewAtAMillion(
  { full }: Million,
  progress: (text: string) => void,
): Promise<Result> {
  progress('storing a million open orders and deliveries, and the counts of a day');
  await fill(full.databaseUrl);
  try {
    return await alternate(
      { value: () => timeOverviews(full), ceiling: async () => promisedMs },
      { rounds: 7, unit: 'ms an overview', goal: '≤ 1', progress },
    );
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
  for (const statement of [
    `insert into api_keys (id, hash, name, scopes, last4, created_at)
     values (gen_random_uuid(), '\\x${hash}', 'Bench', '{operator}', 'ator', now())`,
    `insert into order_counts (account_id, hour, stage, code, bucket, count)
     select '00000000-0000-0000-0000-000000000000', date_trunc('hour', now()) - n * interval '1 hour', stage, code, bucket, 400
     from generate_series(0, 743) n
     cross join unnest('{provisioned,downloaded,installed,active}'::text[]) stage
     cross join (
       select '' as code, bucket from generate_series(30, 49) bucket
       union all
       select 'code_' || code, -1 from generate_series(1, 10) code
     ) kinds`,
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

async function timeOverviews({ url }: Target): Promise<number> {
  const startedAtMs = performance.now();
  for (let i = 0; i < requestsPerRound; i++) {
    const response = await fetch(`${url}/v1/operator/overview`, {
      headers: { Authorization: `Bearer ${operatorKey}` },
    });
    const overview = (await response.json()) as { backlogs?: { executions: { count: number } } };
    if (overview.backlogs?.executions.count !== 10_000)
      throw new Error(`${response.status}: ${JSON.stringify(overview)}`);
  }
  return (performance.now() - startedAtMs) / requestsPerRound;
}

import pg from 'pg';
import { alternate } from '../support/alternate.ts';
import { createEndpoint } from '../support/delivering.ts';
import { type Deployment, runSql, type Target } from '../support/deployment.ts';
import { type Receiver, startReceiver } from '../support/load.ts';
import type { Result } from '../support/scenario.ts';
import { warmUp } from '../support/warm-up.ts';

const count = 3_000;

export const twoWorkersSettings = { SIMPLANE_ROLE: 'api' };

/**
 * Two worker processes run a backlog of orders and deliver its events, compared to one worker. Each side has its own
 * database, so rounds can alternate. A lost or duplicate order, event or delivery fails the run.
 */
export async function twoWorkers(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const receiver = await startReceiver();
  try {
    const pair = await deployment.startServer(twoWorkersSettings, await deployment.createDatabase('pair'));
    const [one, two] = [sideOf(deployment, receiver), sideOf(pair, receiver)];
    for (const target of [one, two]) await createEndpoint(target, receiver.url, ['esim.provisioned']);
    for (const { databaseUrl } of [one, two, two]) {
      await deployment.startServer({ SIMPLANE_ROLE: 'worker' }, databaseUrl);
    }
    progress('warming up');
    await warmUp(one.run, two.run);
    const result = await alternate(
      { value: two.run, ceiling: one.run },
      { rounds: 7, unit: 'eSIMs/s', goal: '≥ 1.05', progress },
    );
    for (const side of [one, two]) await checkNothingLostOrDuplicated(side);
    return result;
  } finally {
    await receiver.stop();
  }
}

function sideOf(target: Target, receiver: Receiver) {
  return { ...target, run: () => runBacklog(target, receiver) };
}

/** eSIMs per second, from the commit of the orders to the last webhook. */
async function runBacklog({ databaseUrl }: Target, receiver: Receiver): Promise<number> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  try {
    await receiver.reset();
    await db.query('begin');
    await db.query(
      `insert into execution_queue (account_id, id, type, product_id, input, created_at)
       select accounts.id, uuid_v7(now()), 'esim.provision', 'prod_europe_5gb_30d', '{}', now()
       from accounts, generate_series(1, $1)`,
      [count],
    );
    await db.query(`select pg_notify('simplane', 'executions')`);
    await db.query('commit');
    const startedAtMs = performance.now();
    await receiver.expect(count);
    return (count / (performance.now() - startedAtMs)) * 1_000;
  } finally {
    await db.end();
  }
}

async function checkNothingLostOrDuplicated({ databaseUrl }: Target): Promise<void> {
  const [seen] = await runSql<Record<string, number>>(
    databaseUrl,
    `select (select count(*)::int from executions) as executions,
            (select count(*)::int from executions where status = 'succeeded') as succeeded,
            (select count(distinct execution_id)::int from esims) as esims,
            (select count(distinct iccid)::int from esims) as iccids,
            (select count(*)::int from bundles) as bundles,
            (select count(distinct body::json -> 'data' ->> 'execution_id')::int from events) as announced,
            (select count(*)::int from events) as events,
            (select count(*)::int from (select from deliveries union all select from delivery_queue) all_deliveries) as deliveries`,
  );
  const counts = new Set(Object.values(seen ?? {}));
  if (counts.size !== 1) throw new Error(`orders were lost or duplicated: ${JSON.stringify(seen)}`);
}

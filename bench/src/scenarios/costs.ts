import { type Cost, costOf } from '../support/cost.ts';
import { createEndpoint, maxInFlight, prepareBacklog } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import { provisionRate } from '../support/provisioning.ts';
import { median, type Result, round } from '../support/scenario.ts';
import { warmUp } from '../support/warm-up.ts';

const rounds = 5;
const deliveries = 6_000;
const orders = 3_000;
const units = 6_000;

/** The cost of a delivery, from its insert to its stored result. */
export async function deliverCost(deployment: Deployment, progress: (what: string) => void): Promise<Result> {
  const load = await startLoad();
  const backlog = await prepareBacklog(deployment, load.receiver);
  try {
    return await measure(deployment, load, {
      inserts: 1, // though it is written twice: batches make up for it
      progress,
      async run() {
        await backlog.storeEvents(deliveries);
        const cost = await costOf(deployment, deliveries, () => backlog.storeAndSendDeliveries(deliveries));
        await backlog.vacuum();
        return cost;
      },
    });
  } finally {
    await backlog.stop();
    await load.stop();
  }
}

/** The cost of an order, from its POST to its webhook's stored result. */
export async function provisionCost(
  deployment: Deployment,
  progress: (what: string) => void,
): Promise<Result> {
  const load = await startLoad();
  try {
    await createEndpoint(deployment, load.receiver.url, ['esim.provisioned']);
    const provision = () => provisionRate(load, deployment, orders);
    return await measure(deployment, load, {
      inserts: 8,
      progress,
      run: () => costOf(deployment, orders, provision),
    });
  } finally {
    await load.stop();
  }
}

async function startLoad() {
  const generator = startGenerator();
  const receiver = await startReceiver();
  const stop = async () => {
    await receiver.stop();
    await generator.stop();
  };
  return { generator, receiver, stop };
}

type Load = Awaited<ReturnType<typeof startLoad>>;

/** `inserts`: as many bare inserts it may cost PostgreSQL. */
type Measure = { inserts: number; progress(what: string): void; run(): Promise<Cost> };

/** Microseconds would say how fast the machine is, so each round also measures a bare insert and a bare POST. */
async function measure(
  { databaseUrl }: Deployment,
  { generator, receiver }: Load,
  { inserts, progress, run }: Measure,
): Promise<Result> {
  const bare = { pid: generator.pid, databaseUrl };
  async function runUnits() {
    const insert = await costOf(bare, units, () =>
      generator.bareInserts({ databaseUrl, inFlight: 16, count: units }),
    );
    const post = await costOf(bare, units, () =>
      generator.barePosts({ url: receiver.url, inFlight: maxInFlight, count: units }),
    );
    return { insertUs: insert.postgres_us, postUs: post.node_us };
  }
  progress('warming up');
  await warmUp(run, runUnits);
  const measured: (Cost & Awaited<ReturnType<typeof runUnits>>)[] = [];
  for (let i = 1; i <= rounds; i++) {
    const one = { ...(await run()), ...(await runUnits()) };
    measured.push(one);
    const multiple = (one.postgres_us / one.insertUs).toFixed(1);
    progress(
      `round ${i} of ${rounds}: ${Math.round(one.postgres_us)} µs in PostgreSQL, ${multiple} bare inserts`,
    );
  }
  type Measured = (typeof measured)[number];
  const medianOf = (figure: (one: Measured) => number) => round(median(measured.map(figure)));
  const inInserts = medianOf((one) => one.postgres_us / one.insertUs);
  return {
    ...{ value: inInserts, unit: 'bare inserts in PostgreSQL', ceiling: inserts },
    ...{ ratio: round(inInserts / inserts), goal: '≤ 1', rounds },
    details: {
      bare_posts_in_node: medianOf((one) => one.node_us / one.postUs),
      postgres_us: medianOf((one) => one.postgres_us),
      node_us: medianOf((one) => one.node_us),
      bare_insert_us: medianOf((one) => one.insertUs),
      bare_post_us: medianOf((one) => one.postUs),
      wal_bytes: medianOf((one) => one.wal_bytes),
    },
  };
}

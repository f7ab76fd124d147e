import { type Cost, costOf } from '../support/cost.ts';
import { createEndpoint, prepareBacklog } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import { provisionRate } from '../support/provisioning.ts';
import { median, type Result, round } from '../support/scenario.ts';
import { warmUp } from '../support/warm-up.ts';

const rounds = 5;
const deliveries = 6_000;
const orders = 3_000;

/** The cost of a delivery, from its insert to its stored result. The bound is 50 µs in PostgreSQL; there is no ceiling. */
export async function deliverCost(deployment: Deployment, progress: (what: string) => void): Promise<Result> {
  const receiver = await startReceiver();
  const backlog = await prepareBacklog(deployment, receiver);
  try {
    return await measure({
      boundUs: 50,
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
    await receiver.stop();
  }
}

/** The cost of an order, from its POST to its webhook's stored result. The bound is 230 µs in PostgreSQL. */
export async function provisionCost(
  deployment: Deployment,
  progress: (what: string) => void,
): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  try {
    await createEndpoint(deployment, receiver.url, ['esim.provisioned']);
    const provision = () => provisionRate({ generator, receiver }, deployment, orders);
    return await measure({
      boundUs: 230,
      progress,
      run: () => costOf(deployment, orders, provision),
    });
  } finally {
    await receiver.stop();
    await generator.stop();
  }
}

type Measure = { boundUs: number; progress(what: string): void; run(): Promise<Cost> };

async function measure({ boundUs, progress, run }: Measure): Promise<Result> {
  progress('warming up');
  await warmUp(run);
  const costs: Cost[] = [];
  for (let i = 1; i <= rounds; i++) {
    const cost = await run();
    costs.push(cost);
    progress(`round ${i} of ${rounds}: ${Math.round(cost.postgres_us)} µs in PostgreSQL`);
  }
  const medianOf = (figure: keyof Cost) => round(median(costs.map((cost) => cost[figure])));
  const value = medianOf('postgres_us');
  return {
    ...{
      value,
      unit: 'µs in PostgreSQL',
      ceiling: boundUs,
      ratio: round(value / boundUs),
      goal: '≤ 1',
      rounds,
    },
    details: { node_us: medianOf('node_us'), wal_bytes: medianOf('wal_bytes') },
  };
}

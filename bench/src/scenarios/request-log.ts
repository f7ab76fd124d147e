import { connections } from '../support/accepting.ts';
import { alternate } from '../support/alternate.ts';
import { type Cost, costOf, mapCost } from '../support/cost.ts';
import type { Deployment, Target } from '../support/deployment.ts';
import { type Generator, startGenerator } from '../support/load.ts';
import { median, type Result, round } from '../support/scenario.ts';
import { acceptSettings } from './accept.ts';

const warmUpMs = 7_000;
const roundMs = 2_000;
const rounds = 15;

/** `POST /v1/esims` with every request in the request log, compared to a server without it. */
export async function requestLog(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const generator = startGenerator();
  const logging = await deployment.startServer({ ...acceptSettings, SIMPLANE_REQUEST_LOG: 'all' });
  const silent = await deployment.startServer({ ...acceptSettings, SIMPLANE_REQUEST_LOG: 'off' });
  const costs = { logging: [] as Cost[], silent: [] as Cost[] };
  try {
    progress('warming up');
    for (const target of [logging, silent]) await measure(generator, target, warmUpMs);
    const measured = async (name: keyof typeof costs, target: Target) => {
      const { rate, cost } = await measure(generator, target, roundMs);
      costs[name].push(cost);
      return rate;
    };
    const result = await alternate(
      { value: () => measured('logging', logging), ceiling: () => measured('silent', silent) },
      { rounds, unit: 'orders/s', goal: '≥ 0.98', progress },
    );
    return {
      ...result,
      details: { node_us: added(costs, 'node_us'), postgres_us: added(costs, 'postgres_us') },
    };
  } finally {
    await generator.stop();
  }
}

async function measure(generator: Generator, target: Target, forMs: number) {
  let orders = { count: 0, elapsedMs: 0 };
  const total = await costOf(target, 1, async () => {
    orders = await generator.postOrders({ url: target.url, key: target.key, connections, forMs });
  });
  const cost = mapCost(total, (value) => value / orders.count);
  return { rate: (orders.count / orders.elapsedMs) * 1_000, cost };
}

/** The CPU time that the log adds to an order. */
function added({ logging, silent }: { logging: Cost[]; silent: Cost[] }, figure: keyof Cost): number {
  const medianOf = (costs: Cost[]) => median(costs.map((cost) => cost[figure]));
  return round(medianOf(logging) - medianOf(silent));
}

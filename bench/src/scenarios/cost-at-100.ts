import { setTimeout as sleep } from 'node:timers/promises';
import { type Cost, costOf, mapCost } from '../support/cost.ts';
import { createEndpoint } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator, startReceiver } from '../support/load.ts';
import { median, type Result, round } from '../support/scenario.ts';

const perSecond = 100;
const forMs = 20_000;
const rounds = 3;
const boundMs = 2;
// Until a deployment of one process knows that it is the only one.
const settledAfterMs = 20_000;
const type = 'bench.measured';

/** The CPU that a lone event costs, from its POST to its webhook's stored result, without what the deployment costs at rest. */
export async function costAt100(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  try {
    await createEndpoint(deployment, receiver.url, [type]);
    const { url, key } = deployment;
    const count = (forMs / 1_000) * perSecond;
    const send = async () => {
      await receiver.reset();
      await generator.postEvents({ url, key, perSecond, forMs, type });
      await receiver.expect(count);
    };
    progress('warming up');
    await send();
    await sleep(settledAfterMs);
    // A process that rests between its events costs many times more for each, on most machines; a bare insert tells how much here.
    const bare = { databaseUrl: deployment.databaseUrl, inFlight: 1, count, perSecond };
    const costs: Cost[] = [];
    const bareCosts: Cost[] = [];
    const atRest: Cost[] = [];
    for (let n = 1; n <= rounds; n++) {
      const rest = await costOf(deployment, count, () => sleep(forMs));
      const busy = await costOf(deployment, count, send);
      atRest.push(rest);
      costs.push(mapCost(busy, (value, figure) => value - rest[figure]));
      bareCosts.push(
        await costOf({ ...deployment, pid: generator.pid }, count, () => generator.bareInserts(bare)),
      );
      progress(`round ${n} of ${rounds}: ${Math.round(cpuOf(costs.at(-1) as Cost))} µs an event`);
    }
    const medianOf = (figure: keyof Cost) => round(median(costs.map((cost) => cost[figure])));
    const value = round(median(costs.map(cpuOf)) / 1_000);
    return {
      ...{ value, unit: 'ms of CPU', ceiling: boundMs, ratio: round(value / boundMs), goal: '≤ 1', rounds },
      details: {
        node_us: medianOf('node_us'),
        postgres_us: medianOf('postgres_us'),
        transactions: medianOf('transactions'),
        wal_bytes: medianOf('wal_bytes'),
        bare_insert_us: round(median(bareCosts.map(cpuOf))),
        // In a second.
        transactions_at_rest: round(median(atRest.map(({ transactions }) => transactions)) * perSecond),
        cpu_us_at_rest: round(median(atRest.map(cpuOf)) * perSecond),
      },
    };
  } finally {
    await receiver.stop();
    await generator.stop();
  }
}

const cpuOf = ({ node_us, postgres_us }: Cost) => node_us + postgres_us;

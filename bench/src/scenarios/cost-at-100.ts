import { setTimeout as sleep } from 'node:timers/promises';
import { type Cost, costOf, mapCost } from '../support/cost.ts';
import { createEndpoint } from '../support/delivering.ts';
import type { Deployment } from '../support/deployment.ts';
import { startBareEvents, startGenerator, startReceiver } from '../support/load.ts';
import { median, type Result, round } from '../support/scenario.ts';

const perSecond = 100;
const forMs = 20_000;
const rounds = 3;
const boundMs = 2;
// Until a deployment of one process knows that it is the only one.
const settledAfterMs = 20_000;
const type = 'bench.measured';
const count = (forMs / 1_000) * perSecond;

/** The CPU that a lone event costs, from its POST to its webhook's stored result, without what the deployment costs at rest. */
export async function costAt100(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const generator = startGenerator();
  const receiver = await startReceiver();
  const bare = await startBare(deployment);
  const sendTo =
    ({ url, receipts }: { url: string; receipts: typeof receiver }) =>
    async () => {
      await receipts.reset();
      await generator.postEvents({ url, key: deployment.key, perSecond, forMs, type });
      await receipts.expect(count);
    };
  const send = sendTo({ url: deployment.url, receipts: receiver });
  const sendBare = sendTo(bare);
  try {
    await createEndpoint(deployment, receiver.url, [type]);
    progress('warming up');
    await send();
    await sendBare();
    await sleep(settledAfterMs);
    const costs: Cost[] = [];
    const bareCosts: Cost[] = [];
    const atRest: Cost[] = [];
    for (let n = 1; n <= rounds; n++) {
      const rest = await costOf(deployment, count, () => sleep(forMs));
      const withoutRest = (cost: Cost) => mapCost(cost, (value, figure) => value - rest[figure]);
      const own = withoutRest(await costOf(deployment, count, send));
      // PostgreSQL's cost at rest is that of the deployment, which goes on resting.
      const ofBare = { pid: bare.pid, databaseUrl: deployment.databaseUrl };
      const other = await costOf(ofBare, count, sendBare);
      atRest.push(rest);
      costs.push(own);
      bareCosts.push({ ...withoutRest(other), node_us: other.node_us });
      progress(
        `round ${n} of ${rounds}: ${Math.round(cpuOf(own))} µs an event, a bare loop ${Math.round(cpuOf(bareCosts.at(-1) as Cost))}`,
      );
    }
    return describe(costs, bareCosts, atRest);
  } finally {
    await bare.stop();
    await receiver.stop();
    await generator.stop();
  }
}

/** The same durable work with nothing around it, in another database. Most of either cost is waking up, which differs by machine. */
async function startBare(deployment: Deployment) {
  const receipts = await startReceiver();
  const server = await deployment.startServer(
    { SIMPLANE_ROLE: 'api' },
    await deployment.createDatabase('bare'),
  );
  await createEndpoint(server, receipts.url, [type]);
  await server.stop();
  const events = await startBareEvents({ databaseUrl: server.databaseUrl, receiverUrl: receipts.url });
  const stop = async () => {
    await events.stop();
    await receipts.stop();
  };
  return { ...events, receipts, stop };
}

const cpuOf = ({ node_us, postgres_us }: Cost) => node_us + postgres_us;

function describe(costs: Cost[], bareCosts: Cost[], atRest: Cost[]): Result {
  const medianOf = (figure: keyof Cost) => round(median(costs.map((cost) => cost[figure])));
  const value = round(median(costs.map(cpuOf)) / 1_000);
  const inBareLoops = costs.map((cost, n) => cpuOf(cost) / cpuOf(bareCosts[n] as Cost));
  return {
    ...{ value, unit: 'ms of CPU', ceiling: boundMs, ratio: round(value / boundMs), goal: '≤ 1', rounds },
    details: {
      bare_loops: round(median(inBareLoops)),
      bare_loop_us: round(median(bareCosts.map(cpuOf))),
      node_us: medianOf('node_us'),
      postgres_us: medianOf('postgres_us'),
      transactions: medianOf('transactions'),
      wal_bytes: medianOf('wal_bytes'),
      // In a second.
      transactions_at_rest: round(median(atRest.map(({ transactions }) => transactions)) * perSecond),
      cpu_us_at_rest: round(median(atRest.map(cpuOf)) * perSecond),
    },
  };
}

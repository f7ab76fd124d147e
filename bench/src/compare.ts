/**
 * `npm run bench:compare -- FOLDER [NAME …]` compares this checkout to another, built one, for example that of the last release;
 * `npm run bench:compare -- --postgres URL [NAME …]` compares a PostgreSQL on this machine to the embedded one. Each side has its own
 * PostgreSQL, and they take turns, so the machine and its load affect both.
 */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { connections } from './support/accepting.ts';
import { type Cost, costOf } from './support/cost.ts';
import type { Deployment } from './support/deployment.ts';
import { type Generator, type Receiver, startGenerator, startReceiver } from './support/load.ts';
import { showProgress } from './support/progress.ts';
import { provisionRate } from './support/provisioning.ts';
import { median } from './support/scenario.ts';
import { warmUp } from './support/warm-up.ts';

type Load = { generator: Generator; receiver: Receiver };
/** What differs between checkouts: the server, and the rows that a backlog has. */
type Checkout = typeof import('./support/deployment.ts') & typeof import('./support/delivering.ts');
type Run = { count: number; run(): Promise<number>; stop?(): Promise<void> };
type Prepare = (checkout: Checkout, deployment: Deployment, load: Load) => Promise<Run>;
type Round = Cost & { rate: number };

const rounds = 9;

const scenarios: Record<string, { settings?: Record<string, string>; prepare: Prepare }> = {
  accept: {
    settings: { SIMPLANE_ROLE: 'api' },
    prepare: async (_, { url, key }, { generator }) => ({
      count: 10_000,
      async run() {
        const { count, elapsedMs } = await generator.postOrders({ url, key, connections, count: 10_000 });
        return (count / elapsedMs) * 1_000;
      },
    }),
  },
  provision: {
    async prepare({ createEndpoint }, deployment, load) {
      await createEndpoint(deployment, load.receiver.url, ['esim.provisioned']);
      return { count: 3_000, run: () => provisionRate(load, deployment, 3_000) };
    },
  },
  deliver: {
    async prepare({ prepareBacklog }, deployment, { receiver }) {
      const backlog = await prepareBacklog(deployment, receiver);
      return { count: 6_000, run: () => backlog.deliver(6_000), stop: backlog.stop };
    },
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: 'string' } },
});
const { postgres: postgresUrl } = values;
const [folder, ...wanted] = postgresUrl ? ['', ...positionals] : positionals;
const unknown = wanted.filter((name) => !(name in scenarios));
if (folder === undefined || unknown.length > 0) {
  console.error(
    `usage: npm run bench:compare -- FOLDER | --postgres URL [${Object.keys(scenarios).join(' | ')} …]`,
  );
  process.exit(2);
}

const here = await load(resolve(import.meta.dirname, '../..'));
const checkouts = { theirs: postgresUrl ? here : await load(resolve(folder)), ours: here };
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
for (const name of wanted.length > 0 ? wanted : Object.keys(scenarios)) await compare(name);

function interrupt(): void {
  const end = () => process.exit(130);
  Promise.all([checkouts.theirs.stopDeployments(), checkouts.ours.stopDeployments()]).then(end, end);
}

async function load(checkout: string): Promise<Checkout> {
  const from = (file: string) => import(pathToFileURL(join(checkout, 'bench/dist/support', file)).href);
  return { ...(await from('deployment.js')), ...(await from('delivering.js')) };
}

async function compare(name: string): Promise<void> {
  const { settings = {}, prepare } = scenarios[name] as (typeof scenarios)[string];
  const progress = showProgress(name);
  const load = { generator: startGenerator(), receiver: await startReceiver() };
  const deployments: Deployment[] = [];
  const runs: Run[] = [];
  const sideOf = async (checkout: Checkout, postgres?: string) => {
    const deployment = await checkout.startDeployment({ settings, postgresUrl: postgres });
    deployments.push(deployment);
    const prepared = await prepare(checkout, deployment, load);
    runs.push(prepared);
    const { count, run } = prepared;
    return async (): Promise<Round> => {
      let rate = 0;
      const cost = await costOf(deployment, count, async () => {
        rate = await run();
      });
      return { ...cost, rate };
    };
  };
  try {
    progress.show('starting both');
    const [theirs, ours] = [await sideOf(checkouts.theirs), await sideOf(checkouts.ours, postgresUrl)];
    progress.show('warming up');
    await warmUp(theirs, ours);
    const pairs: { theirs: Round; ours: Round }[] = [];
    for (let i = 1; i <= rounds; i++) {
      const first = i % 2 === 0 ? await theirs() : null;
      const own = await ours();
      const pair = { theirs: first ?? (await theirs()), ours: own };
      pairs.push(pair);
      progress.show(`round ${i} of ${rounds}: ${(pair.ours.rate / pair.theirs.rate).toFixed(2)}`);
    }
    show(name, pairs);
  } finally {
    progress.end();
    for (const run of runs) await run.stop?.();
    for (const deployment of deployments) await deployment.stop();
    await load.receiver.stop();
    await load.generator.stop();
  }
}

/** For every figure: the median of the other side, that of this one, and the median and range of the pairs' ratios. */
function show(name: string, pairs: { theirs: Round; ours: Round }[]): void {
  for (const figure of ['rate', 'node_us', 'postgres_us', 'transactions', 'wal_bytes'] as const) {
    const ratios = pairs.map(({ theirs, ours }) => ours[figure] / theirs[figure]).sort((a, b) => a - b);
    const of = (side: 'theirs' | 'ours') =>
      median(pairs.map((pair) => pair[side][figure])).toFixed(figure === 'transactions' ? 3 : 1);
    const [least, most] = [ratios[0]?.toFixed(2), ratios.at(-1)?.toFixed(2)];
    console.log(
      `${name} ${figure}: ${of('theirs')} → ${of('ours')}, ratio ${median(ratios).toFixed(3)} (${least} to ${most})`,
    );
  }
}

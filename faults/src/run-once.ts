import { type Break, breaks } from './breaks/breaks.ts';
import { type CheckName, checks } from './checks/index.ts';
import type { Violation } from './checks/violation.ts';
import { runCustomer } from './clients/customer.ts';
import { collectDeliveries, collectEnd } from './collect.ts';
import { type Deployment, startDeployment } from './deployment/deployment.ts';
import type { Postgres } from './deployment/postgres.ts';
import { emptyHistory, type History } from './history/history.ts';
import { inflictFaults } from './inflict.ts';
import type { Plan } from './plan.ts';
import { becomesQuiet, heal, recoverAll } from './recover.ts';
import { HarnessFailure, type World } from './world.ts';

export type Found = Violation & { check: CheckName };

export type Outcome = { plan: Plan; history: History; found: Found[] };

type Options = {
  plan: Plan;
  postgres: Postgres;
  /** Prepared, and for this run alone. */
  database: string;
  keys: string[];
  breakName?: string;
  progress?: (text: string) => void;
};

// A dead sender's delivery comes due again after 11 s; whatever lies still much longer than that is stuck.
const usualStallMs = 45_000;
// Far beyond what a run takes: it is there so that a run ends by itself, always.
const longestRunMs = 30 * 60_000;

/** One run: a deployment is driven and broken by the plan, healed, looked at from all sides, and judged. */
export async function runOnce(options: Options): Promise<Outcome> {
  const { plan, postgres, database, keys, breakName, progress = () => {} } = options;
  const broken = breakName === undefined ? null : (breaks[breakName] as Break);
  const history = emptyHistory(Date.now());
  if (broken?.isAsynchronous) await postgres.pair().stopReplication();
  if (broken?.sql) await postgres.query(database, broken.sql);
  const deployment = await startDeployment(postgres, history, {
    ...{ seed: plan.seed, processes: plan.processes, database, keys },
    preload: broken?.preload ? new URL(`./breaks/preload/${broken.preload}.js`, import.meta.url).href : null,
  });
  let names = 0;
  const world: World = {
    ...{ plan, deployment, history, progress: { ended: 0, begun: 0 }, giveUpAtMs: Date.now() + longestRunMs },
    patienceMs: broken ? 30_000 : 2_000, // a frozen process gives no answer; where none is frozen, load may make them slow
    newName: (kind) => `${kind}-${++names}`,
  };
  if (broken) deployment.network.heal(); // what is broken is to be the only thing that is
  try {
    await drive(world, progress);
    await lookAround(world, broken?.stalledAfterMs ?? usualStallMs, progress);
  } finally {
    await stop(deployment);
  }
  return { plan, history, found: judge(history) };
}

function judge(history: History): Found[] {
  return Object.entries(checks).flatMap(([check, find]) =>
    find(history).map((violation) => ({ check: check as CheckName, ...violation })),
  );
}

/** Customers and faults side by side, until both are through. */
async function drive(world: World, progress: (text: string) => void): Promise<void> {
  const { plan, history } = world;
  const total = plan.customers.reduce((sum, { operations }) => sum + operations.length, 0);
  const telling = setInterval(() => {
    const last = history.notes.at(-1)?.text ?? '';
    progress(`${world.progress.ended}/${total} operations, ${history.receipts.length} deliveries; ${last}`);
  }, 1_000);
  let isOver = false;
  const faults = inflictFaults(world, () => isOver).catch((error: unknown) => {
    world.giveUpAtMs = Date.now(); // a deployment that was left broken keeps its customers waiting
    return new HarnessFailure(`a fault could not be carried out: ${String(error)}`);
  });
  const customers = await Promise.allSettled(plan.customers.map((customer) => runCustomer(world, customer)));
  isOver = true;
  clearInterval(telling);
  const failure = await faults;
  if (failure) throw failure;
  for (const one of customers) if (one.status === 'rejected') throw one.reason;
}

async function lookAround(world: World, stalledMs: number, progress: (text: string) => void): Promise<void> {
  progress('healing');
  await heal(world);
  await becomesQuiet(world, stalledMs);
  progress('quiet: reading what became of every event');
  await collectDeliveries(world);
  await recoverAll(world, stalledMs);
  progress('quiet again: reading everything');
  await collectEnd(world);
}

async function stop(deployment: Deployment): Promise<void> {
  for (const link of deployment.links.values()) link.release();
  for (const server of deployment.processes) server.thaw();
  await deployment.stop();
}

import type { Break } from './breaks/breaks.ts';
import { type CheckName, checks } from './checks/index.ts';
import type { Violation } from './checks/violation.ts';
import { runCustomer } from './clients/customer.ts';
import { type Operator, startOperator } from './clients/operator.ts';
import { collectDeliveries, collectEnd } from './collect.ts';
import { type Deployment, startDeployment } from './deployment/deployment.ts';
import type { Postgres } from './deployment/postgres.ts';
import { type Release, thisRelease } from './deployment/processes.ts';
import { delaySomeCommits, watchLeases } from './deployment/run-triggers.ts';
import { emptyHistory, type History } from './history/history.ts';
import type { Plan } from './plan.ts';
import { type FeedReaders, startFeedReaders } from './readers/start-feed-readers.ts';
import { heal, recoverAll, waitUntilIdle } from './recover.ts';
import { HarnessFailure, type RunContext } from './run-context.ts';
import { runFaults } from './run-faults.ts';

export type Found = Violation & { check: CheckName };

export type Outcome = { plan: Plan; history: History; found: Found[] };

type Options = {
  plan: Plan;
  postgres: Postgres;
  /** From `prepareDatabase`, used by this run only. */
  database: string;
  keys: string[];
  broken?: Break;
  /** The release that all processes start with, if not this one. */
  from?: Release;
  progress?: (text: string) => void;
};

// A dead sender's delivery is due again after 11 s; work without progress for much longer is stuck.
const defaultStallMs = 45_000;
// Far beyond any normal run; ends a run that hangs, such as an upgrade whose requests fail for good.
const maxRunMs = 30 * 60_000;
const maxUpgradeMs = 10 * 60_000;

/** Runs the plan against a new deployment, heals it, collects the final state and runs the checks. */
export async function runOnce(options: Options): Promise<Outcome> {
  const { plan, postgres, database, keys, broken, from, progress = () => {} } = options;
  const history = emptyHistory(Date.now());
  await postgres.query(database, watchLeases);
  if (!broken) await postgres.query(database, delaySomeCommits);
  if (broken?.sql) await postgres.query(database, broken.sql);
  if (broken?.isAsynchronous) await postgres.pair().stopReplication();
  history.losesCommits = broken?.isAsynchronous ?? false;
  const deployment = await startDeployment(postgres, history, {
    ...{ seed: plan.seed, processes: plan.processes, database, keys },
    forgetsCalls: plan.network === 'forgets',
    release: from ?? thisRelease,
    preloads: (broken?.preloads ?? []).map(
      (name) => new URL(`./breaks/preload/${name}.js`, import.meta.url).href,
    ),
  });
  let names = 0;
  const ctx: RunContext = {
    ...{ plan, deployment, history, progress: { operations: 0, faults: 0 } },
    deadlineMs: Date.now() + (from ? maxUpgradeMs : maxRunMs),
    // Short, because frozen processes never answer; a break or an upgrade freezes none.
    answerTimeoutMs: broken || from ? 30_000 : 2_000,
    newName: (kind) => `${kind}-${++names}`,
  };
  if (broken) {
    // The break must be the only fault.
    deployment.network.heal();
    deployment.core.heal();
  }
  // Most breaks are over in seconds, and do without readers.
  const hasReaders = !broken || broken.caughtBy.includes('feed-is-gap-free');
  const operator = plan.network === 'forgets' ? startOperator(ctx) : null;
  const readers = startFeedReaders(ctx, hasReaders ? [...keys.keys()] : []);
  try {
    await runPlan(ctx, progress);
    await finish(ctx, { readers, operator }, broken?.stalledAfterMs ?? defaultStallMs, progress);
  } finally {
    await operator?.stop();
    await readers.stop();
    await stop(deployment);
  }
  return { plan, history, found: runChecks(history) };
}

export function runChecks(history: History, leftOut: readonly CheckName[] = []): Found[] {
  const wanted = Object.entries(checks).filter(([check]) => !leftOut.includes(check as CheckName));
  return wanted.flatMap(([check, find]) =>
    find(history).map((violation) => ({ check: check as CheckName, ...violation })),
  );
}

/** Runs customers and faults concurrently until both are done. */
async function runPlan(ctx: RunContext, progress: (text: string) => void): Promise<void> {
  const { plan, history } = ctx;
  const total = plan.customers.reduce((sum, { operations }) => sum + operations.length, 0);
  const timer = setInterval(() => {
    const { notes, receipts } = history;
    const last = notes.at(-1)?.text ?? '';
    progress(`${ctx.progress.operations}/${total} operations, ${receipts.length} deliveries; ${last}`);
  }, 1_000);
  let isOver = false;
  const faults = runFaults(ctx, () => isOver).catch((error: unknown) => {
    ctx.deadlineMs = Date.now(); // customers would wait for a deployment that stays broken
    return new HarnessFailure(`a fault could not be run: ${String(error)}`);
  });
  const customers = await Promise.allSettled(plan.customers.map((customer) => runCustomer(ctx, customer)));
  isOver = true;
  clearInterval(timer);
  const failure = await faults;
  if (failure) throw failure;
  for (const one of customers) if (one.status === 'rejected') throw one.reason;
}

async function finish(
  ctx: RunContext,
  { readers, operator }: { readers: FeedReaders; operator: Operator | null },
  stalledMs: number,
  progress: (text: string) => void,
): Promise<void> {
  progress('healing');
  await heal(ctx);
  await waitUntilIdle(ctx, stalledMs);
  // Processes of the last release have written no states.
  if (ctx.deployment.firstRelease !== thisRelease) await ctx.deployment.resyncCore();
  if (operator) {
    progress('resolving what is left');
    await operator.finish(() => waitUntilIdle(ctx, stalledMs));
  }
  progress('idle: reading all deliveries');
  await collectDeliveries(ctx);
  await recoverAll(ctx, stalledMs);
  progress('idle again: reading everything');
  await collectEnd(ctx);
  if (!ctx.history.losesCommits) await readers.finish(stalledMs);
}

async function stop(deployment: Deployment): Promise<void> {
  for (const link of deployment.links.values()) link.release();
  for (const server of deployment.processes) server.thaw();
  await deployment.stop();
}

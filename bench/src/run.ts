/**
 * `npm run bench` runs every scenario, `npm run bench -- NAME …` the named ones; `--profile DIR` writes a CPU profile of every
 * server process. Results are ratios to a ceiling measured in the same run.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Measured } from './results.ts';
import { accept, acceptSettings } from './scenarios/accept.ts';
import { acceptAtAMillion } from './scenarios/accept-at-1m.ts';
import { batchCost } from './scenarios/batch-cost.ts';
import { costAt100 } from './scenarios/cost-at-100.ts';
import { deliverCost, provisionCost } from './scenarios/costs.ts';
import { deliver, deliverDurable } from './scenarios/deliver.ts';
import { deliverAtAMillion } from './scenarios/deliver-at-1m.ts';
import { fairShares } from './scenarios/fair-shares.ts';
import { feedCatchUp } from './scenarios/feed-catch-up.ts';
import { feedIdle, feedIdleSettings } from './scenarios/feed-idle.ts';
import { feedLatency } from './scenarios/feed-latency.ts';
import { feedRate } from './scenarios/feed-rate.ts';
import { firstEvent, firstEventSettings } from './scenarios/first-event.ts';
import { isolation, isolationSettings } from './scenarios/isolation.ts';
import { latencyAt100 } from './scenarios/latency-at-100.ts';
import { memory, memorySettings } from './scenarios/memory.ts';
import { memoryUnderAttack } from './scenarios/memory-under-attack.ts';
import { operatorOverviewAtAMillion } from './scenarios/operator-overview-at-1m.ts';
import { overviewAtAMillion } from './scenarios/overview-at-1m.ts';
import { pageDepth } from './scenarios/page-depth.ts';
import { processes } from './scenarios/processes.ts';
import { provision, provisionDurable } from './scenarios/provision.ts';
import { requestLog } from './scenarios/request-log.ts';
import { retention, retentionSettings } from './scenarios/retention.ts';
import { snapshotHeld } from './scenarios/snapshot-held.ts';
import { twoWorkers, twoWorkersSettings } from './scenarios/two-workers.ts';
import { usageFeed } from './scenarios/usage-feed.ts';
import { readStealMs } from './support/cpu-steal.ts';
import { startDeployment, stopDeployments } from './support/deployment.ts';
import { type Million, startMillion } from './support/million.ts';
import { showProgress } from './support/progress.ts';
import type { Result, Scenario } from './support/scenario.ts';
import { renderTable } from './support/table.ts';

type OnMillion = (million: Million, progress: (text: string) => void) => Promise<Result>;
/** `partOf`: also runs when that scenario is requested. */
type Entry =
  | { run: Scenario; settings?: Record<string, string>; partOf?: string }
  | { onMillion: OnMillion; partOf?: string };

const scenarios: Record<string, Entry> = {
  accept: { run: accept, settings: acceptSettings },
  'batch-cost': { run: batchCost, settings: acceptSettings },
  'request-log': { run: requestLog, settings: acceptSettings, partOf: 'accept' },
  deliver: { run: deliver },
  'deliver-durable': { run: deliverDurable, partOf: 'deliver' },
  'deliver-cost': { run: deliverCost, partOf: 'deliver' },
  'latency-at-100': { run: latencyAt100 },
  'cost-at-100': { run: costAt100 },
  provision: { run: provision },
  'provision-durable': { run: provisionDurable, partOf: 'provision' },
  'provision-cost': { run: provisionCost, partOf: 'provision' },
  'snapshot-held': { run: snapshotHeld },
  'accept-at-1m': { onMillion: acceptAtAMillion },
  'deliver-at-1m': { onMillion: deliverAtAMillion },
  'overview-at-1m': { onMillion: overviewAtAMillion },
  'operator-overview-at-1m': { onMillion: operatorOverviewAtAMillion },
  'page-depth': { onMillion: pageDepth },
  'feed-catch-up': { onMillion: feedCatchUp },
  'feed-latency': { run: feedLatency },
  'feed-rate': { run: feedRate },
  'feed-idle': { run: feedIdle, settings: feedIdleSettings },
  isolation: { run: isolation, settings: isolationSettings },
  'isolation-first-event': { run: firstEvent, settings: firstEventSettings, partOf: 'isolation' },
  'fair-shares': { run: fairShares },
  processes: { run: processes },
  'two-workers': { run: twoWorkers, settings: twoWorkersSettings },
  'usage-feed': { run: usageFeed },
  retention: { run: retention, settings: retentionSettings },
  memory: { run: memory, settings: memorySettings },
  'memory-under-attack': { run: memoryUnderAttack },
};

const { values, positionals: wanted } = readArguments();
const unknown = wanted.filter((name) => !(name in scenarios));
if (unknown.length > 0) {
  fail(`unknown scenario ${unknown.join(', ')}; known: ${Object.keys(scenarios).join(', ')}`);
}

const results: Measured[] = [];
const startedAtMs = performance.now();
// In list order, so scenarios that share a database run one after another.
const names = Object.entries(scenarios)
  .filter(
    ([name, { partOf = name }]) => wanted.length === 0 || wanted.includes(name) || wanted.includes(partOf),
  )
  .map(([name]) => name);
const shared: { million?: Million } = {};
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
try {
  for (const [index, name] of names.entries()) {
    const progress = showProgress(`${index + 1}/${names.length} ${name}`);
    try {
      results.push({ name, ...(await measure(scenarios[name] as Entry, progress.show)) });
      await save();
    } finally {
      progress.end();
    }
  }
} catch (error) {
  // The interrupted measurement throws; `interrupt` exits once everything is stopped.
  if (isInterrupted) await new Promise(() => {});
  throw error;
} finally {
  await shared.million?.deployment.stop();
}

console.log(renderTable(results));
console.log(`\n${Math.round((performance.now() - startedAtMs) / 1_000)} s in total, on ${describeMachine()}`);

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { profile: { type: 'string' } } });
  } catch (error) {
    return fail(`${(error as Error).message}\nusage: npm run bench -- [NAME …] [--profile DIR]`);
  }
}

function interrupt(): void {
  isInterrupted = true;
  const end = () => process.exit(130);
  stopDeployments().then(end, end);
}

function fail(text: string): never {
  console.error(text);
  process.exit(2);
}

/** Runs after every scenario, so results survive a later failure. */
async function save(): Promise<void> {
  const folder = new URL('../results/', import.meta.url);
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  const contents = { commit, machine: describeMachine(), scenarios: results };
  await mkdir(folder, { recursive: true });
  await writeFile(new URL('latest.json', folder), `${JSON.stringify(contents, null, 2)}\n`);
}

function describeMachine(): string {
  return `${cpus().length} × ${cpus()[0]?.model || process.arch}, Node ${process.version}`;
}

async function measure(entry: Entry, progress: (text: string) => void) {
  if ('onMillion' in entry) {
    shared.million ??= await startMillion(values.profile, progress);
    return withCpuSteal(entry.onMillion(shared.million, progress));
  }
  progress('starting PostgreSQL and a server');
  const { settings = {} } = entry;
  const deployment = await startDeployment({ settings, profileDir: values.profile });
  try {
    return await withCpuSteal(entry.run(deployment, progress));
  } finally {
    await deployment.stop();
  }
}

async function withCpuSteal(running: Promise<Result>) {
  const [stealBefore, beganAtMs] = [readStealMs(), performance.now()];
  const result = await running;
  const stolen = (readStealMs() - stealBefore) / (performance.now() - beganAtMs) / cpus().length;
  return { ...result, cpu_stolen_percent: Math.round(stolen * 1_000) / 10 };
}

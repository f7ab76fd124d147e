/**
 * `npm run bench` runs every scenario, `npm run bench -- NAME …` some; `--profile DIR` keeps a CPU profile of every server
 * process. Figures are ratios to a ceiling that is measured in the same run.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { accept, acceptSettings } from './scenarios/accept.ts';
import { deliver } from './scenarios/deliver.ts';
import { isolation, isolationSettings } from './scenarios/isolation.ts';
import { latencyAt100 } from './scenarios/latency-at-100.ts';
import { pageDepth } from './scenarios/page-depth.ts';
import { provision } from './scenarios/provision.ts';
import { twoWorkers, twoWorkersSettings } from './scenarios/two-workers.ts';
import { readStealMs } from './support/cpu-steal.ts';
import { startDeployment } from './support/deployment.ts';
import { showProgress } from './support/progress.ts';
import type { Scenario } from './support/scenario.ts';
import { type Measured, renderTable } from './support/table.ts';

const scenarios: Record<string, { run: Scenario; settings?: Record<string, string> }> = {
  accept: { run: accept, settings: acceptSettings },
  deliver: { run: deliver },
  'latency-at-100': { run: latencyAt100 },
  provision: { run: provision },
  'page-depth': { run: pageDepth },
  isolation: { run: isolation, settings: isolationSettings },
  'two-workers': { run: twoWorkers, settings: twoWorkersSettings },
};

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { profile: { type: 'string' } },
});
const unknown = wanted.filter((name) => !(name in scenarios));
if (unknown.length > 0) {
  console.error(`no scenario ${unknown.join(', ')}; there is ${Object.keys(scenarios).join(', ')}`);
  process.exit(1);
}

const results: Measured[] = [];
const startedAtMs = performance.now();
const names = wanted.length > 0 ? wanted : Object.keys(scenarios);
for (const [index, name] of names.entries()) {
  const { run, settings = {} } = scenarios[name] as (typeof scenarios)[string];
  const progress = showProgress(`${index + 1}/${names.length} ${name}`);
  progress.show('starting PostgreSQL and a server');
  const deployment = await startDeployment({ settings, profileDir: values.profile });
  const [stealBefore, beganAtMs] = [readStealMs(), performance.now()];
  try {
    const result = await run(deployment, progress.show);
    const stolen = (readStealMs() - stealBefore) / (performance.now() - beganAtMs) / cpus().length;
    results.push({ name, ...result, cpu_stolen_percent: Math.round(stolen * 1_000) / 10 });
  } finally {
    progress.end();
    await deployment.stop();
  }
}

console.log(renderTable(results));
console.log(`\n${Math.round((performance.now() - startedAtMs) / 1_000)} s in all, on ${describeMachine()}`);

const folder = new URL('../results/', import.meta.url);
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
await mkdir(folder, { recursive: true });
await writeFile(
  new URL('latest.json', folder),
  `${JSON.stringify({ commit, machine: describeMachine(), scenarios: results }, null, 2)}\n`,
);

function describeMachine(): string {
  return `${cpus().length} × ${cpus()[0]?.model || process.arch}, Node ${process.version}`;
}

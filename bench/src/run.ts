/** `npm run bench` runs every scenario, `npm run bench -- NAME …` some. Figures are ratios to a ceiling of the same run. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { isolation, isolationSettings } from './scenarios/isolation.ts';
import { pageDepth } from './scenarios/page-depth.ts';
import { usageFeed } from './scenarios/usage-feed.ts';
import { readStealMs } from './support/cpu-steal.ts';
import { startDeployment } from './support/deployment.ts';
import type { Scenario } from './support/scenario.ts';

const scenarios: Record<string, { run: Scenario; settings?: Record<string, string> }> = {
  'page-depth': { run: pageDepth },
  isolation: { run: isolation, settings: isolationSettings },
  'usage-feed': { run: usageFeed },
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in scenarios));
if (unknown.length > 0) {
  console.error(`no scenario ${unknown.join(', ')}; there is ${Object.keys(scenarios).join(', ')}`);
  process.exit(1);
}

const results = [];
for (const name of wanted.length > 0 ? wanted : Object.keys(scenarios)) {
  const { run, settings } = scenarios[name] as (typeof scenarios)[string];
  const deployment = await startDeployment(settings);
  const progress = (what: string) => process.stderr.write(`${name}: ${what}\n`);
  const [stealBefore, startedAtMs] = [readStealMs(), performance.now()];
  try {
    const result = await run(deployment, progress);
    const stolen = (readStealMs() - stealBefore) / (performance.now() - startedAtMs) / cpus().length;
    results.push({ name, ...result });
    console.log(
      `${name}  ${result.value} ${result.unit}  against ${result.ceiling} ${result.unit}  ratio ${result.ratio}  goal ${result.goal}  (CPU stolen: ${(stolen * 100).toFixed(1)} %)`,
    );
  } finally {
    await deployment.stop();
  }
}

const folder = new URL('../results/', import.meta.url);
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
const machine = `${cpus().length} × ${cpus()[0]?.model || process.arch}, Node ${process.version}`;
await mkdir(folder, { recursive: true });
await writeFile(
  new URL('latest.json', folder),
  `${JSON.stringify({ commit, machine, scenarios: results }, null, 2)}\n`,
);

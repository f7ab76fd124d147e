/**
 * `npm run bench:plot` writes the committed results into the docs. With `--commit` it first replaces them with the last
 * run's results, which must include every scenario of the old ones.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { BenchResults } from '@simplane/bench/results';
import { benchPlot } from './bench-plot.ts';
import { performancePage } from './performance-page.ts';

const root = new URL('../../', import.meta.url);
const reference = new URL('bench/results/reference.json', root);
const page = new URL('docs/performance.md', root);

if (process.argv.includes('--commit')) {
  const latest = await read(new URL('bench/results/latest.json', root));
  const measured = new Set(latest.scenarios.map(({ name }) => name));
  const old = await read(reference).catch(() => null);
  const missing = old?.scenarios.filter(({ name }) => !measured.has(name)).map(({ name }) => name) ?? [];
  if (missing.length > 0) {
    console.error(`the last run lacks ${missing.join(', ')}; run \`npm run bench\` without names first`);
    process.exit(1);
  }
  await writeFile(reference, `${JSON.stringify(latest, null, 2)}\n`);
}

const results = await read(reference);
await writeFile(new URL('docs/bench.svg', root), benchPlot(results));
await writeFile(page, performancePage(await readFile(page, 'utf8'), results));
console.log('wrote docs/bench.svg and the table in docs/performance.md');

async function read(file: URL): Promise<BenchResults> {
  return JSON.parse(await readFile(file, 'utf8')) as BenchResults;
}

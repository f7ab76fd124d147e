/**
 * Writes the committed generated files: contract/openapi.json, the SDK's types, docs/errors.md and docs/configuration.md from the
 * code; docs/bench.svg and the table in docs/performance.md from benchmark results.
 * With --check it writes nothing and fails if a file is out of date.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { BenchResults } from '@simplane/bench/results';
import { openApiDocument } from '@simplane/contract';
import { benchPlot } from './bench-plot.ts';
import { configurationPage } from './configuration-page.ts';
import { errorsPage } from './errors-page.ts';
import { performancePage } from './performance-page.ts';
import { sdkTypes } from './sdk-types.ts';

const root = new URL('../../', import.meta.url);
const bench = JSON.parse(await readText('bench/results/reference.json')) as BenchResults;
const sdk = JSON.parse(await readText('sdk/package.json')) as { version: string };
const generated: Record<string, string> = {
  'contract/openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  'sdk/src/generated.ts': sdkTypes(sdk.version),
  'docs/errors.md': errorsPage(),
  'docs/configuration.md': configurationPage(),
  'docs/bench.svg': benchPlot(bench),
  'docs/performance.md': performancePage(await readText('docs/performance.md'), bench),
};

const checkOnly = process.argv.includes('--check');
const stale: string[] = [];

for (const [path, text] of Object.entries(generated)) {
  const file = new URL(path, root);
  if (!checkOnly) await writeFile(file, text);
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) stale.push(path);
}

if (stale.length > 0) {
  console.error(`${stale.join(', ')}: out of date; run \`npm run generate\` and commit the result`);
  process.exit(1);
}
console.log(checkOnly ? 'generated files are up to date' : `wrote ${Object.keys(generated).join(', ')}`);

function readText(path: string): Promise<string> {
  return readFile(new URL(path, root), 'utf8');
}

/** Checks the import rules, and that they were checked: a cruise that could not read the sources would pass in silence. */
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';

const root = fileURLToPath(new URL('../../', import.meta.url));
process.chdir(root);

const folders = [
  'contract/src',
  'reference/src',
  'sdk/src',
  'mcp/src',
  'cli/src',
  'server/src',
  'bench/src',
  'faults/src',
];
const { default: rules } = await import(new URL('../../.dependency-cruiser.js', import.meta.url).href);
const { output } = await cruise(
  folders,
  { ruleSet: { forbidden: rules.forbidden }, validate: true, ...rules.options },
  {
    ...rules.options.enhancedResolveOptions,
  },
);
const { modules, summary } = output as ICruiseResult;

const sources = (await Promise.all(folders.map((folder) => readdir(folder, { recursive: true }))))
  .flat()
  .filter((name) => name.endsWith('.ts'));
const read = modules.filter(
  ({ source }) => source.endsWith('.ts') && folders.some((folder) => source.startsWith(folder)),
);
const edges = read.reduce((sum, { dependencies }) => sum + dependencies.length, 0);
if (read.length < sources.length || edges < sources.length) {
  console.error(
    `only ${read.length} of ${sources.length} source files were read, with ${edges} imports between them`,
  );
  process.exit(1);
}

for (const { rule, from, to, cycle } of summary.violations) {
  const reason = rules.forbidden.find(({ name }: { name: string }) => name === rule.name)?.comment ?? '';
  console.error(
    `${rule.name}: ${from} → ${cycle ? cycle.map(({ name }) => name).join(' → ') : to}\n  ${reason}`,
  );
}
if (summary.violations.length > 0) process.exit(1);
console.log(`import rules hold: ${read.length} files, ${edges} imports`);

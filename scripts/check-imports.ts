/** Checks the import rules, and that every source file was read: a cruise that reads nothing reports no violation. */
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';

const root = new URL('../../', import.meta.url);
const { default: rules, workspaces } = await import(new URL('.dependency-cruiser.js', root).href);
const folders = Object.keys(workspaces).map((workspace) => `${workspace}/src`);

// A test passes another tree that contains violations.
process.chdir(process.argv[2] ?? fileURLToPath(root));

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
  .filter((name) => /\.tsx?$/.test(name));
const read = modules.filter(
  ({ source }) => /\.tsx?$/.test(source) && folders.some((folder) => source.startsWith(folder)),
);
const edges = read.reduce((sum, { dependencies }) => sum + dependencies.length, 0);
if (read.length < sources.length || edges < sources.length) {
  console.error(`only ${read.length} of ${sources.length} source files were read, with ${edges} imports`);
  process.exit(1);
}

for (const { rule, from, to, cycle } of summary.violations) {
  const reason = rules.forbidden.find(({ name }: { name: string }) => name === rule.name)?.comment ?? '';
  console.error(
    `${rule.name}: ${from} → ${cycle ? cycle.map(({ name }) => name).join(' → ') : to}\n  ${reason}`,
  );
}
// Not process.exit: it would cut off output still being written to a pipe.
if (summary.violations.length > 0) process.exitCode = 1;
else console.log(`import rules hold: ${read.length} files, ${edges} imports`);

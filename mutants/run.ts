/** `npm run mutants [-- NAME …]`: changes the code on purpose and expects a test to fail. See docs/mutants.md. */
import { handWritten } from './hand-written.ts';
import { pureCores } from './pure-cores.ts';
import { cleanUp, runHandWritten } from './run-hand-written.ts';
import { removeSandbox, runPureCores } from './run-pure-cores.ts';

const leastKilled = 0.95;

const names = process.argv.slice(2);
const cores = pureCores.filter((file) => names.length === 0 || names.includes(file));
const known = new Set<string>([...pureCores, ...handWritten.map(({ name }) => name)]);
const unknown = names.filter((name) => !known.has(name));
if (unknown.length > 0) {
  console.error(
    `No mutant and no pure core is called ${unknown.join(', ')}. There are:\n${[...known].join('\n')}`,
  );
  process.exit(2);
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopping.abort();
    const exit = () => process.exit(130);
    Promise.all([cleanUp(), removeSandbox()]).then(exit, exit);
  });
}

const byHand = await runHandWritten(names, stopping.signal);
if (stopping.signal.aborted) process.exit(130);
const pure =
  cores.length > 0 ? await runPureCores(cores) : { killed: 0, explained: 0, unexplained: [], stale: [] };

const count = (verdict: string) => byHand.filter((one) => one.verdict === verdict).length;
const survivors = byHand.filter(({ verdict }) => verdict === 'survived').map(({ mutant }) => mutant.name);
const unusable = byHand.filter(({ verdict }) => verdict !== 'killed' && verdict !== 'survived');
const killed = count('killed') + pure.killed;
const all = killed + survivors.length + pure.unexplained.length + pure.explained;

for (const line of pure.unexplained) console.log(`survived  ${line}`);
for (const { mutant, verdict, by } of unusable)
  console.log(`${verdict}  ${mutant.name} in ${mutant.file} ${by}`);
for (const line of pure.stale) console.log(`explained, but did not survive: ${line}`);
console.log(
  `by hand: ${count('killed')} killed, ${survivors.length} survived, ${unusable.length} stale, broken or untested\n` +
    `pure cores: ${pure.killed} killed, ${pure.unexplained.length + pure.explained} survived (${pure.explained} explained)\n` +
    `${((100 * killed) / Math.max(all, 1)).toFixed(1)} % of ${all} killed`,
);
const isGood =
  killed >= leastKilled * all &&
  [survivors, unusable, pure.unexplained, pure.stale].every((list) => list.length === 0);
process.exitCode = isGood ? 0 : 1;

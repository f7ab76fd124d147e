/**
 * `npm run faults`: breaks a whole deployment by a plan that a seed gives, and checks from outside what is promised.
 * `-- --seed 7 --seconds 60 --runs 3 --break NAME`. Exits with 1 on a violation, with 2 when the run itself failed.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { breakPlan } from './breaks/break-plan.ts';
import { type Break, breaks } from './breaks/breaks.ts';
import { prepareDatabase } from './deployment/deployment.ts';
import { startPostgres } from './deployment/postgres.ts';
import { killAll } from './deployment/processes.ts';
import { describePlan, makePlan } from './plan.ts';
import { describeCounts, describeViolations } from './report.ts';
import { runOnce } from './run-once.ts';

// What a round of the plan takes on two idle cores.
const secondsPerRound = 4;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string', default: '30' },
    runs: { type: 'string', default: '1' },
    break: { type: 'string' },
  },
});
const [seconds, runs] = [Number(values.seconds), Number(values.runs)];
const firstSeed = values.seed === undefined ? randomInt(1, 1_000_000) : Number(values.seed);
const breakName = values.break;
const broken = breakName === undefined ? null : breaks[breakName];
if (broken === undefined)
  fail(`no break is called ${breakName}; there are ${Object.keys(breaks).join(', ')}`);
if (![seconds, runs, firstSeed].every((value) => value > 0)) {
  fail('--seed, --seconds and --runs take numbers above 0');
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.on('exit', killAll); // PostgreSQL ends with the pipe from us

try {
  process.exitCode = (await runAll()) ? 0 : 1;
} catch (error) {
  process.stderr.write(
    `\nthe run itself failed, at which nothing can be said of the service: ${String(error)}\n`,
  );
  process.exitCode = 2;
}
process.exit(); // nothing that is still open may keep a finished run from ending

async function runAll(): Promise<boolean> {
  const failed: number[] = [];
  for (let run = 0; run < runs; run++) {
    const seed = firstSeed + run;
    if (!(await runSeed(seed, broken))) failed.push(seed);
  }
  if (runs > 1)
    print(
      `${runs - failed.length} of ${runs} runs without a violation${failed.length > 0 ? `; failed: ${failed.join(', ')}` : ''}`,
    );
  return failed.length === 0;
}

async function runSeed(seed: number, wanted: Break | null | undefined): Promise<boolean> {
  const plan = wanted
    ? breakPlan(seed, wanted)
    : makePlan(seed, Math.max(1, Math.round(seconds / secondsPerRound)));
  print(describePlan(plan));
  const startedAtMs = performance.now();
  const postgres = await startPostgres();
  try {
    const keys = await prepareDatabase(postgres, 'faults');
    const progress = (text: string) => process.stderr.write(`  seed ${seed}: ${text}\n`);
    const outcome = await runOnce({
      plan,
      postgres,
      database: 'faults',
      keys,
      progress,
      ...(breakName && { breakName }),
    });
    const took = `${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`;
    print(`seed ${seed}, ${took}: ${describeCounts(outcome)}`);
    if (outcome.found.length === 0) print(`seed ${seed}: no violation`);
    else
      print(
        `${describeViolations(outcome)}\nseed ${seed}: ${outcome.found.length} violations; replay: ${replayOf(seed)}`,
      );
    return outcome.found.length === 0;
  } finally {
    await postgres.remove();
  }
}

function replayOf(seed: number): string {
  return `npm run faults -- --seed ${seed} ${breakName ? `--break ${breakName}` : `--seconds ${seconds}`}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}

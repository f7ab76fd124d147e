/**
 * `npm run faults`: runs a seeded plan of faults against a whole deployment, and checks its guarantees from outside.
 * `-- --seed 7 --seconds 60 --runs 3 --topology pair --break NAME`, or `-- --hours 8`. Exits with 1 on a violation, with 2 if a run
 * itself failed.
 */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { breakPlan } from './breaks/break-plan.ts';
import { type Break, breaks } from './breaks/breaks.ts';
import { prepareDatabase } from './deployment/deployment.ts';
import { type Postgres, startPostgres, type Topology } from './deployment/postgres.ts';
import { killAll } from './deployment/processes.ts';
import { describePlan, isTopology, makePlan, topologyNames } from './plan.ts';
import { describeCounts, describeViolations } from './report.ts';
import { runOnce } from './run-once.ts';

// Duration of a round on two idle cores.
const secondsPerRound = 4;
const interrupted = 130;

const values = readArguments();
const [seconds, runs] = [Number(values.seconds), Number(values.runs)];
const firstSeed = values.seed === undefined ? randomInt(1, 1_000_000) : Number(values.seed);
const breakName = values.break;
const broken = breakName === undefined ? null : breaks[breakName];
if (broken === undefined) fail(`unknown break ${breakName}; known: ${Object.keys(breaks).join(', ')}`);
const topology = readTopology(values.topology);
const hours = values.hours === undefined ? null : Number(values.hours);
if (![seconds, runs, firstSeed, hours ?? 1].every((value) => value > 0)) {
  fail('--seed, --seconds, --runs and --hours must be numbers above 0');
}

let running: Postgres | null = null;
let stoppedAtMs: number | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
process.on('exit', killAll);

try {
  process.exitCode = await runAll();
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 2;
}
process.exit(); // open handles must not keep a finished run alive

function readArguments() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string' },
        seconds: { type: 'string', default: '30' },
        runs: { type: 'string', default: '1' },
        hours: { type: 'string' },
        topology: { type: 'string' },
        break: { type: 'string' },
      },
    }).values;
  } catch (error) {
    return fail(
      `${(error as Error).message}\nusage: npm run faults -- [--seed N] [--seconds N] [--runs N | --hours N] [--topology NAME] [--break NAME]`,
    );
  }
}

function readTopology(name: string | undefined): Topology | undefined {
  if (name === undefined || isTopology(name)) return name;
  return fail(`--topology must be one of ${topologyNames.join(', ')}`);
}

/** Stops everything. A later signal exits at once, but under npm one Ctrl-C arrives twice within a second. */
function stop(): void {
  if (stoppedAtMs !== null) {
    if (performance.now() - stoppedAtMs > 1_000) process.exit(interrupted);
    return;
  }
  stoppedAtMs = performance.now();
  killAll();
  const end = () => process.exit(interrupted);
  running?.remove().then(end, end);
  if (!running) end();
}

/** Runs one seed after another and returns the exit code. What fails does not end the series, and is kept in a file each. */
async function runAll(): Promise<number> {
  const endMs = hours === null ? null : performance.now() + hours * 3_600_000;
  const failed: string[] = [];
  let code = 0;
  let run = 0;
  for (; endMs === null ? run < runs : performance.now() < endMs; run++) {
    const seed = firstSeed + run;
    try {
      const violations = await runSeed(seed, broken);
      if (violations === null) continue;
      failed.push(
        `${replayOf(seed)}   # ${hours === null ? 'violations above' : await keep(seed, violations)}`,
      );
      code ||= 1;
    } catch (error) {
      if (stoppedAtMs !== null) return interrupted;
      process.stderr.write(
        `seed ${seed}: the run itself failed, not a check of the service: ${String(error)}\n`,
      );
      failed.push(`${replayOf(seed)}   # the run itself failed`);
      code = 2;
    }
  }
  if (run > 1) print(`${run - failed.length} of ${run} runs without a violation`);
  for (const line of failed) print(`replay: ${line}`);
  return code;
}

async function keep(seed: number, violations: string): Promise<string> {
  const file = `faults-${seed}.txt`;
  await writeFile(file, `${violations}\n`);
  return file;
}

/** The violations as text; null if there are none. */
async function runSeed(seed: number, wanted: Break | null | undefined): Promise<string | null> {
  const plan = wanted
    ? breakPlan(seed, wanted)
    : makePlan(seed, Math.max(1, Math.round(seconds / secondsPerRound)), topology);
  print(describePlan(plan));
  const startedAtMs = performance.now();
  const postgres = await startPostgres(plan.topology);
  running = postgres;
  try {
    const keys = await prepareDatabase(postgres, 'faults');
    const progress = printChanges(`  seed ${seed}: `);
    const outcome = await runOnce({
      plan,
      postgres,
      database: 'faults',
      keys,
      progress,
      ...(wanted && { broken: wanted }),
    });
    const took = `${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`;
    print(`seed ${seed}, ${took}: ${describeCounts(outcome)}`);
    if (outcome.found.length === 0) {
      print(`seed ${seed}: no violation`);
      return null;
    }
    const violations = describeViolations(outcome);
    print(`${violations}\nseed ${seed}: ${outcome.found.length} violations`);
    return violations;
  } finally {
    await postgres.remove();
  }
}

/** Prints a line only when the text changes. */
function printChanges(prefix: string): (text: string) => void {
  let last = '';
  return (text) => {
    if (text !== last) process.stderr.write(`${prefix}${text}\n`);
    last = text;
  };
}

function replayOf(seed: number): string {
  const how = breakName ? `--break ${breakName}` : `--seconds ${seconds}`;
  return `npm run faults -- --seed ${seed} ${how}${topology ? ` --topology ${topology}` : ''}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}

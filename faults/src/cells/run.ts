import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CheckName } from '../checks/index.ts';
import { collectDeliveries, collectEnd } from '../collect.ts';
import { killAll } from '../deployment/processes.ts';
import { emptyHistory } from '../history/history.ts';
import { note } from '../history/note.ts';
import { createRandom } from '../random.ts';
import { startFeedReaders } from '../readers/start-feed-readers.ts';
import { heal, recoverAll, waitUntilIdle } from '../recover.ts';
import { describeCounts, describeViolations } from '../report.ts';
import type { RunContext } from '../run-context.ts';
import { runChecks } from '../run-once.ts';
import { findBreak } from './cell-breaks.ts';
import { repeatOldWrites, startLoad } from './load.ts';
import { moveWithKills, steps } from './move.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

/**
 * `npm run cells -- [rounds] [seed] [--break NAME]`: two live cells behind a real HAProxy with the configuration of docs/cells.md.
 * Customers of both use them and are moved to and fro; each move, a server and a PostgreSQL are killed in each round. Then the checks of
 * `npm run faults` must hold over both cells together.
 */
const { values, positionals } = parseArgs({
  options: { break: { type: 'string' } },
  allowPositionals: true,
});
const rounds = Number(positionals[0] ?? 4);
const seed = Number(positionals[1] ?? randomInt(1, 1_000_000));
const broken = values.break === undefined ? undefined : findBreak(values.break);
if (values.break !== undefined && !broken) throw new Error(`unknown break ${values.break}`);
// Each cell has an operator's feed of its own, of the events that happened in it.
const leftOut: CheckName[] = ['operator-feed-is-whole'];
const stallMs = 60_000;
const maxRunMs = (10 + 3 * rounds) * 60_000;
const killsPerMove = 3;
const roundPauseMs = 4_000;

const say = (text: string) => void process.stdout.write(`${text}\n`);
process.on('exit', killAll);
say(`${rounds} rounds, seed ${seed}${broken ? `, broken: ${broken.description}` : ''}`);
const startedMs = Date.now();
const history = emptyHistory(startedMs);
const two = await startTwoCells(history, seed, broken?.sql ?? '');
const { deployment, reporters } = two;
let names = 0;
const ctx: RunContext = {
  plan: { seed, topology: 'single', network: 'remembers', processes: [], customers: [], faults: [] },
  ...{ deployment, history, progress: { operations: 0, faults: 0 } },
  deadlineMs: startedMs + maxRunMs,
  answerTimeoutMs: 5_000,
  newName: (kind) => `${kind}-${++names}`,
};
const readers = startFeedReaders(
  ctx,
  two.customers.map((_, account) => account),
);
const load = startLoad(ctx, two.customers.length, reporters);
for (let round = 1; round <= rounds; round++) {
  await sleep(roundPauseMs);
  await runRound(two, round);
}
await load.stop();
await heal(ctx);
await waitUntilIdle(ctx, stallMs);
say('idle: reading everything');
await collectDeliveries(ctx);
await recoverAll(ctx, stallMs);
await collectEnd(ctx);
await readers.finish(stallMs);
const outcome = { plan: ctx.plan, history, found: runChecks(history, leftOut) };
say(`${((Date.now() - startedMs) / 1_000).toFixed(0)} s: ${describeCounts(outcome)}`);
const found = new Set(outcome.found.map(({ check }) => check));
if (found.size > 0) say(describeViolations(outcome));
await deployment.stop();
if (broken) {
  const missed = broken.caughtBy.filter((name) => !found.has(name));
  say(missed.length === 0 ? 'the break was found' : `not found by ${missed.join(', ')}`);
} else say(found.size === 0 ? 'no violation' : `repeat with: npm run cells -- ${rounds} ${seed}`);
process.exit(found.size === 0 ? 0 : 1);

/** Moves the first customer, and in every second round the other one too, the other way or the same one. */
async function runRound({ cells, router, customers }: TwoCells, round: number): Promise<void> {
  const faults = breakThings(two, round);
  const moving = round % 2 === 0 ? [...customers.entries()] : [...customers.entries()].slice(0, 1);
  const told = await Promise.all(
    moving.map(async ([account, customer]) => {
      const from = customer.home;
      const to = cells.find((cell) => cell !== from) as (typeof cells)[number];
      const random = createRandom(seed, `move ${round} ${account}`);
      const first = (round - 1) * killsPerMove;
      const killAt = account === 0 ? steps.slice(first, first + killsPerMove) : [];
      const { learn } = router;
      const kills = await moveWithKills(ctx, { account: customer.id, from, to, killAt, random, learn });
      customer.home = to;
      await repeatOldWrites(ctx, account, random);
      return `customer ${account + 1} in ${to.name} after ${kills} kills`;
    }),
  );
  await faults;
  say(`round ${round}: ${told.join(', ')}; ${ctx.progress.operations} operations`);
}

/** Kills a server and a PostgreSQL, one after the other. */
async function breakThings({ cells, deployment: { processes } }: TwoCells, round: number): Promise<void> {
  const random = createRandom(seed, `faults ${round}`);
  await sleep(500 + random.below(3_000));
  const server = random.pick(processes);
  note(history, `fault: kill ${server.name}`);
  await server.kill();
  await sleep(random.below(1_000));
  await server.start();
  await sleep(random.below(3_000));
  const { name, postgres } = random.pick(cells);
  note(history, `fault: crash-postgres of ${name}`);
  await postgres.stop('kill');
  await sleep(random.below(1_000));
  await postgres.start();
}

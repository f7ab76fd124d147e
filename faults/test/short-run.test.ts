import { expect, test } from 'vitest';
import { prepareDatabase } from '../dist/deployment/deployment.js';
import { startPostgres } from '../dist/deployment/postgres.js';
import { describePlan, type Fault, makePlan } from '../dist/plan.js';
import { describeCounts, describeViolations } from '../dist/report.js';
import { runOnce } from '../dist/run-once.js';

const seed = 59;
const rounds = 2;

const hourMs = 3_600_000;
// Each process is wrong once: by an hour, or by the 31 days that would end keys and delete what is 30 days old.
const jumps = [
  ['worker-1', 31 * 24 * hourMs],
  ['api-1', -hourMs],
  ['worker-2', -31 * 24 * hourMs],
  ['api-2', hourMs],
] as const;
const clockJumps = jumps.map(
  ([process, jumpMs], index): Fault => ({
    ...{ kind: 'clock-jump', process, jumpMs, step: '', lasts: 6, after: 8 + 20 * index },
  }),
);

test('every guarantee holds through a short plan of faults and wrong clocks, on two api and two worker processes', async () => {
  const drawn = makePlan(seed, rounds, 'single', 'forgets');
  const faults = [...drawn.faults, ...clockJumps].toSorted((one, other) => one.after - other.after);
  const plan = { ...drawn, faults };
  console.log(describePlan(plan));
  const postgres = await startPostgres();
  try {
    const keys = await prepareDatabase(postgres, 'short');
    const outcome = await runOnce({ plan, postgres, database: 'short', keys });
    console.log(`seed ${seed}: ${describeCounts(outcome)}`);
    expect(describeViolations(outcome)).toBe('');
    expect(outcome.history.receipts.length).toBeGreaterThan(0);
    const ended = outcome.history.notes.filter(({ text }) => text.startsWith('ended: clock-jump'));
    expect(ended.length).toBeGreaterThanOrEqual(jumps.length);
  } finally {
    await postgres.remove();
  }
}, 900_000); // catches a hang: a minute and a half on idle cores, five on busy ones

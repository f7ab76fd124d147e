import { expect, test } from 'vitest';
import { prepareDatabase } from '../dist/deployment/deployment.js';
import { startPostgres } from '../dist/deployment/postgres.js';
import { type Fault, makePlan } from '../dist/plan.js';
import { describeCounts, describeViolations } from '../dist/report.js';
import { runOnce } from '../dist/run-once.js';

const seed = 31;
const rounds = 2;
const hourMs = 3_600_000;

const jumps = [
  ['all-1', 31 * 24 * hourMs],
  ['all-2', -hourMs],
  ['all-1', -31 * 24 * hourMs],
  ['all-2', hourMs],
] as const;
const faults = jumps.map(
  ([process, jumpMs], index): Fault => ({
    ...{ kind: 'clock-jump', process, jumpMs, step: '', lasts: 8, after: 8 + 16 * index },
  }),
);

test('every guarantee holds while the clock of one process after another jumps by an hour or 31 days', async () => {
  const postgres = await startPostgres();
  try {
    const keys = await prepareDatabase(postgres, 'clocks');
    // Two processes, which do everything, are started in half of the time of four.
    const plan = { ...makePlan(seed, rounds, 'single', 'remembers'), processes: ['all-1', 'all-2'], faults };
    const outcome = await runOnce({ plan, postgres, database: 'clocks', keys });
    console.log(`seed ${seed}: ${describeCounts(outcome)}`);
    expect(describeViolations(outcome)).toBe('');
    expect(outcome.history.notes.filter(({ text }) => text.startsWith('ended: clock-jump'))).toHaveLength(4);
    expect(outcome.history.receipts.length).toBeGreaterThan(0);
  } finally {
    await postgres.remove();
  }
}, 900_000); // catches a hang

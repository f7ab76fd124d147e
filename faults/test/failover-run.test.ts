import { expect, test } from 'vitest';
import { prepareDatabase } from '../dist/deployment/deployment.js';
import { startPostgres } from '../dist/deployment/postgres.js';
import { type Fault, makePlan } from '../dist/plan.js';
import { describeCounts, describeViolations } from '../dist/report.js';
import { runOnce } from '../dist/run-once.js';

const seed = 24;
const rounds = 3;

// Far apart, so that customers are at work while a standby is built; the last 30 operations are left to the last fault.
const faults: Fault[] = (['fail-over', 'switch-over', 'lose-standby'] as const).map((kind, index) => ({
  ...{ kind, process: '', step: '', lasts: 6, after: 10 + 40 * index },
}));

test('a primary killed, one replaced while it stays up read-only, a standby lost: no acknowledged order is lost or doubled', async () => {
  const postgres = await startPostgres('pair');
  try {
    const keys = await prepareDatabase(postgres, 'failover');
    const plan = { ...makePlan(seed, rounds, 'pair'), faults };
    const outcome = await runOnce({ plan, postgres, database: 'failover', keys });
    console.log(`seed ${seed}: ${describeCounts(outcome)}`);
    expect(describeViolations(outcome)).toBe('');
    const notes = outcome.history.notes.map(({ text }) => text);
    for (const { kind } of faults) expect(notes).toContainEqual(expect.stringContaining(`over: ${kind}`));
  } finally {
    await postgres.remove();
  }
}, 300_000);

import { expect, test } from 'vitest';
import { prepareDatabase } from '../dist/deployment/deployment.js';
import { startPostgres } from '../dist/deployment/postgres.js';
import { type Fault, makePlan } from '../dist/plan.js';
import { describeCounts, describeViolations } from '../dist/report.js';
import { runOnce } from '../dist/run-once.js';

const seed = 24;
const rounds = 2;

// Far apart, so customers work while a standby is built; 36 operations remain after the last fault starts.
const faults: Fault[] = (['fail-over', 'switch-over', 'lose-standby'] as const).map((kind, index) => ({
  ...{ kind, process: '', step: '', jumpMs: 0, lasts: 6, after: 8 + 26 * index },
}));

test('no acknowledged order is lost or duplicated through a failover, a switchover and a lost standby', async () => {
  const postgres = await startPostgres('pair');
  try {
    const keys = await prepareDatabase(postgres, 'failover');
    const plan = { ...makePlan(seed, rounds, 'pair'), faults };
    const outcome = await runOnce({ plan, postgres, database: 'failover', keys });
    console.log(`seed ${seed}: ${describeCounts(outcome)}`);
    expect(describeViolations(outcome)).toBe('');
    const notes = outcome.history.notes.map(({ text }) => text);
    for (const { kind } of faults) expect(notes).toContainEqual(expect.stringContaining(`ended: ${kind}`));
  } finally {
    await postgres.remove();
  }
}, 900_000); // catches a hang: a minute and a half on idle cores, five on busy ones

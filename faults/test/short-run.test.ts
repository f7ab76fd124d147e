import { expect, test } from 'vitest';
import { prepareDatabase } from '../dist/deployment/deployment.js';
import { startPostgres } from '../dist/deployment/postgres.js';
import { describePlan, makePlan } from '../dist/plan.js';
import { describeCounts, describeViolations } from '../dist/report.js';
import { runOnce } from '../dist/run-once.js';

const seed = 59;
const rounds = 2;

test('every guarantee holds through a short plan of faults, on two api and two worker processes', async () => {
  const plan = makePlan(seed, rounds, 'single', 'forgets');
  console.log(describePlan(plan));
  const postgres = await startPostgres();
  try {
    const keys = await prepareDatabase(postgres, 'short');
    const outcome = await runOnce({ plan, postgres, database: 'short', keys });
    console.log(`seed ${seed}: ${describeCounts(outcome)}`);
    expect(describeViolations(outcome)).toBe('');
    expect(outcome.history.receipts.length).toBeGreaterThan(0);
  } finally {
    await postgres.remove();
  }
}, 900_000); // catches a hang: a minute and a half on idle cores, five on busy ones

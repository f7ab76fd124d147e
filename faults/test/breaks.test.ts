import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { breakPlan } from '../dist/breaks/break-plan.js';
import { type Break, breaks } from '../dist/breaks/breaks.js';
import { checks } from '../dist/checks/index.js';
import { prepareDatabase } from '../dist/deployment/deployment.js';
import { type Postgres, startPostgres } from '../dist/deployment/postgres.js';
import { runOnce } from '../dist/run-once.js';
import { brokenTogether, joinBreaks } from './broken-together.ts';

const template = 'prepared';

let postgres: Postgres;
let keys: string[];

beforeAll(async () => {
  postgres = await startPostgres();
  keys = await prepareDatabase(postgres, template);
});
afterAll(() => postgres.remove());

/** A break with a failover gets its own PostgreSQL; the others share one and get a cloned database each. */
async function prepare(
  database: string,
  { topology }: Break,
): Promise<{ postgres: Postgres; keys: string[] }> {
  if (topology !== undefined) {
    const own = await startPostgres(topology);
    return { postgres: own, keys: await prepareDatabase(own, database) };
  }
  await postgres.createDatabase(database, template);
  return { postgres, keys };
}

/** As few breaks as report all checks, several in one deployment. `FAULTS_BREAKS=all` runs every one alone, as every night. */
const runs =
  process.env['FAULTS_BREAKS'] === 'all' ? Object.keys(breaks).map((name) => [name]) : brokenTogether;

test('every check has a break that it must report', () => {
  const broken = new Set(runs.flatMap((names) => joinBreaks(names).caughtBy));
  expect(Object.keys(checks).filter((name) => !broken.has(name as keyof typeof checks))).toEqual([]);
});

test('no check could report one break of a deployment for another', () => {
  for (const names of runs) {
    const { caughtBy } = joinBreaks(names);
    expect(caughtBy, names.join()).toHaveLength(new Set(caughtBy).size);
  }
});

describe.concurrent('exactly the broken guarantees are reported', () => {
  test.each(runs.map((names) => [names.join(', '), names] as const))(
    '%s',
    async (_, names) => {
      const broken = joinBreaks(names);
      const database = `broken_${names.join('_').replaceAll('-', '_')}`.slice(0, 63);
      const own = await prepare(database, broken);
      const plan = breakPlan(1, broken);
      let found: Awaited<ReturnType<typeof runOnce>>['found'];
      try {
        ({ found } = await runOnce({ plan, ...own, database, broken }));
      } finally {
        if (own.postgres !== postgres) await own.postgres.remove();
      }
      const reported = [...new Set(found.map(({ check }) => check))].sort();
      expect(reported, JSON.stringify(found.slice(0, 5))).toEqual(broken.caughtBy.toSorted());
    },
    900_000,
  );
});

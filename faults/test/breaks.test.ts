import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { breakPlan } from '../dist/breaks/break-plan.js';
import { type Break, breaks } from '../dist/breaks/breaks.js';
import { checks } from '../dist/checks/index.js';
import { prepareDatabase } from '../dist/deployment/deployment.js';
import { type Postgres, startPostgres } from '../dist/deployment/postgres.js';
import { runOnce } from '../dist/run-once.js';

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

/** As few breaks as report all checks. `FAULTS_BREAKS=all` runs the others too, as every night. */
function chooseBreaks(): [string, Break][] {
  const all = Object.entries(breaks);
  if (process.env['FAULTS_BREAKS'] === 'all') return all;
  const missing = new Set<string>(Object.keys(checks));
  const chosen: [string, Break][] = [];
  const newIn = ([, { caughtBy }]: [string, Break]) => caughtBy.filter((name) => missing.has(name)).length;
  while (missing.size > 0) {
    const [best] = all.toSorted((one, other) => newIn(other) - newIn(one));
    if (!best || newIn(best) === 0) return chosen;
    chosen.push(best);
    for (const name of best[1].caughtBy) missing.delete(name);
  }
  return chosen;
}

const chosen = chooseBreaks();

test('every check has a break that it must report', () => {
  const broken = new Set(chosen.flatMap(([, { caughtBy }]) => caughtBy));
  expect(Object.keys(checks).filter((name) => !broken.has(name as keyof typeof checks))).toEqual([]);
});

describe.concurrent('exactly the broken guarantee is reported', () => {
  test.each(chosen)(
    '%s',
    async (breakName, broken: Break) => {
      const database = `broken_${breakName.replaceAll('-', '_')}`;
      const own = await prepare(database, broken);
      const plan = breakPlan(1, broken);
      let found: Awaited<ReturnType<typeof runOnce>>['found'];
      try {
        ({ found } = await runOnce({ plan, ...own, database, breakName }));
      } finally {
        if (own.postgres !== postgres) await own.postgres.remove();
      }
      const names = [...new Set(found.map(({ check }) => check))].sort();
      expect(names, JSON.stringify(found.slice(0, 5))).toEqual([...broken.caughtBy].sort());
    },
    900_000,
  );
});

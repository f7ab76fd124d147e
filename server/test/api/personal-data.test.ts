import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { rulesOf } from '../../src/background/retention/rules.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { steps } from '../../src/orders/erasures/personal-data.ts';
import { cloneDatabase } from '../support/database.ts';
import { impersonal } from '../support/impersonal-columns.ts';

const day = 86_400_000;

type Column = { table: string; column: string };

async function readColumns(): Promise<Column[]> {
  const database = await cloneDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.drop();
  });
  const { rows } = await client.query(
    `select table_name as table, column_name as column
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE'
       and udt_name in ('text', '_text', 'varchar', 'bpchar', 'json', 'jsonb', '_jsonb', 'bytea', 'inet', 'cidr', 'xml', 'hstore')
     order by 1, 2`,
  );
  return rows;
}

const isErased = ({ table, column }: Column) =>
  steps.some((step) => step.table === table && (step.columns === 'rows' || step.columns.includes(column)));
const isImpersonal = ({ table, column }: Column) => table in impersonal || `${table}.${column}` in impersonal;

test('every column that can hold text is erased with the account, or is known to hold nothing personal', async () => {
  const columns = await readColumns();
  expect(columns.length).toBeGreaterThan(100);
  expect(columns.filter((one) => !isErased(one) && !isImpersonal(one))).toEqual([]);
  expect(columns.filter((one) => isErased(one) && isImpersonal(one))).toEqual([]);
  const known = Object.keys(impersonal).filter((name) =>
    columns.every(({ table, column }) => name !== table && name !== `${table}.${column}`),
  );
  expect(known, 'reasons for what is not there').toEqual([]);
});

test('the page on privacy says of every table with personal data how long it is kept, and what erasing does', async () => {
  const page = await readFile(new URL('../../../docs/privacy.md', import.meta.url), 'utf8');
  const lines = page.split('\n').filter((line) => line.startsWith('| `'));
  const kept = new Map(lines.map((line) => [line.split('`')[1], line.split('|')[3]?.trim()]));
  const tables = steps.filter(({ columns }) => columns.length > 0).map(({ table }) => table);
  expect([...kept.keys()].sort()).toEqual([...new Set([...tables, 'dashboard_sessions'])].sort());
  const days = Object.fromEntries(
    rulesOf(readConfig({}).config).map(({ table, keptMs }) => [table, `${keptMs / day} days`]),
  );
  for (const [table, age] of kept) {
    if (table && days[table] !== undefined)
      expect([table, age?.match(/^\d+ days/)?.[0]]).toEqual([table, days[table]]);
  }
});

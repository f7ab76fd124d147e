import { readdirSync, readFileSync } from 'node:fs';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { unscopedTables } from './account-scope.ts';
import { exceptions } from './account-scope-exceptions.ts';

type Statement = Parameters<Queryable['query']>[0];

const known = new Map<string, string | null>();

/** The same database, but a statement that does not name the account fails the test that runs it. */
export function watchStatements(db: Database): Database {
  return {
    ...db,
    ...watched(db),
    queryWithin: (timeoutMs, statement, values) =>
      watched({ query: (...given) => db.queryWithin(timeoutMs, ...given) }).query(statement, values),
    transaction: (work) => db.transaction((tx) => work(watched(tx))),
  };
}

function watched(db: Queryable): Queryable {
  return {
    async query(statement, values) {
      const fault = faultOf(statement);
      if (fault !== null) throw new Error(fault);
      return db.query(statement, values);
    },
  };
}

/** Names of the tests' own statements, which are exempt. */
const namesInTests = readNames(new URL('../', import.meta.url));

function readNames(folder: URL): ReadonlySet<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const texts = files.map((name) => readFileSync(new URL(name, folder), 'utf8'));
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/\bname: '(\w+)'/g)].map(([, name]) => name as string)),
  );
}

function isOfTest(name: string): boolean {
  return namesInTests.has(name) || /^test_|\W/.test(name);
}

function faultOf({ name, text }: Statement): string | null {
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  const allowed = exceptions.filter(({ statement }) => statement.test(name)).flatMap(({ tables }) => tables);
  const tables = isOfTest(name) ? [] : unscopedTables(text).filter((table) => !allowed.includes(table));
  const fault =
    tables.length === 0
      ? null
      : `The statement "${name}" does not say whose ${tables.join(' and ')} it means: bind account_id to a parameter, or add a reason to account-scope-exceptions.ts.`;
  known.set(text, fault);
  return fault;
}

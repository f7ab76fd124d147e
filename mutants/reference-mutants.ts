import { api, type Mutant } from './mutant.ts';

const tests = [api('references')];
const lookups = 'server/src/views/lookups/sql.ts';

/** References, and what a search finds. */
export const referenceMutants: Mutant[] = [
  {
    name: 'events-of-a-similar-reference',
    file: 'server/src/notify/events/sql/filtered.ts',
    find: `if (referred) conditions.push(\`and \${dataField('reference')} = \${referred}\`);`,
    replace: `if (referred) conditions.push(\`and \${referred}::text is not null\`);`,
    tests,
    why: 'The index has the reference up to its first quotation mark only, so the JSON decides.',
  },
  {
    name: 'reference-ignores-types',
    file: 'server/src/orders/executions/list-statement.ts',
    find: `const ofTypes = types === '' ? '' : \`and type = any(\${types})\`;\n  const ofCode`,
    replace: "const ofTypes = '';\n  const ofCode",
    tests,
    why: 'A reference and a type are both filters.',
  },
  {
    name: 'reference-ignores-error-code',
    file: 'server/src/orders/executions/list-statement.ts',
    find: `const ofCode = code === null ? '' : \`and error ->> 'code' = \${code}\`;`,
    replace: "const ofCode = '';",
    tests,
    why: 'A reference and an error code are both filters.',
  },
  {
    name: 'failed-order-not-found-by-metadata',
    file: 'server/src/orders/esims/sql/orders.ts',
    find: '    where queued_iccid is null\n  )`;',
    replace: '    where false\n  )`;',
    tests,
    why: 'The search finds an order that failed without an eSIM.',
  },
  {
    name: 'open-order-not-found-by-metadata',
    file: lookups,
    find: "where exists (select from jsonb_each_text(input -> 'metadata') as pair where pair.value = $2)",
    replace: 'where false',
    tests,
    why: 'The search finds an order that waits.',
  },
  {
    name: 'esim-listed-without-asked-reference',
    file: 'server/src/orders/esims/sql/list.ts',
    find: `stored.push(\`and reference = \${given}\`);`,
    replace: '',
    tests,
    why: 'A reference and a pair of metadata are both filters.',
  },
  {
    name: 'incomplete-index-kept',
    file: 'server/src/platform/db/build-indexes.ts',
    find: `await client.query(\`drop index concurrently if exists \${name}\`);`,
    replace:
      "if ((await client.query('select from pg_class where relname = $1', [name])).rowCount) continue;",
    tests: ['server/test/process/migrate.test.ts'],
    why: 'An index that a killed migration left is built again.',
  },
  {
    name: 'indexes-block-writes',
    file: 'server/src/platform/db/build-indexes.ts',
    find: 'await client.query(statement);',
    replace: "await client.query(statement.replace('concurrently ', ''));",
    tests: ['server/test/process/migrate.test.ts'],
    why: 'Orders and events are written while an index is built.',
  },
  {
    name: 'empty-filter-accepted',
    file: 'server/src/http/query.ts',
    find: 'return refusal ?? emptyParameter(query);',
    replace: 'return refusal ?? (query && null);',
    tests: [api('lookup-details')],
    why: 'A filter without a value is refused on every list.',
  },
  {
    name: 'held-order-starts-at-once',
    file: 'server/src/orders/executions/sql-parts.ts',
    find: `interval '\${heldProduct.seconds} seconds' else now() end`,
    replace: "interval '0 seconds' else now() end",
    tests: [api('execution-events')],
    why: 'An order of the held product can be canceled.',
  },
  {
    name: 'front-page-for-programs',
    file: 'server/src/http/front-page.ts',
    find: String.raw` && /\btext\/html\b/.test(headers.accept ?? '')`,
    replace: ' && Boolean(headers)',
    tests: [api('errors')],
    why: 'A program that asks for / gets an error in JSON.',
  },
];

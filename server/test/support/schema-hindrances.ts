import type pg from 'pg';

type Column = { table: string; name: string; type: string; isRequired: boolean; hasDefault: boolean };
/** A constraint or a unique index. */
type Rule = { table: string; name: string; text: string; columns: string[] };
type Schema = { columns: Column[]; rules: Rule[]; functions: string[] };

/** What in the schema `after` could fail a statement that was written for `before`. Changed triggers are not looked at. */
export function schemaHindrances(before: Schema, after: Schema): string[] {
  const tablesOf = ({ columns }: Schema) => new Set(columns.map(({ table }) => table));
  const [oldTables, newTables] = [tablesOf(before), tablesOf(after)];
  const gone = [...oldTables].filter((table) => !newTables.has(table));
  const changed = before.columns.filter(
    (column) => newTables.has(column.table) && find(after, column)?.type !== column.type,
  );
  const required = after.columns.filter(
    (column) => oldTables.has(column.table) && isNewlyRequired(find(before, column), column),
  );
  const known = new Set(before.rules.map(({ table, text }) => `${table} ${text}`));
  const rules = after.rules
    .filter(({ table, text }) => !known.has(`${table} ${text}`))
    // Older processes leave new columns to their defaults.
    .filter(({ table, columns }) => columns.some((name) => find(before, { table, name })));
  const functions = before.functions.filter((one) => !after.functions.includes(one));
  return [
    ...gone.map((table) => `table ${table} is gone`),
    ...changed.map(({ table, name }) => `column ${table}.${name} is gone or has another type`),
    ...required.map(({ table, name }) => `column ${table}.${name} is required`),
    ...rules.map(({ table, name }) => `${name} of ${table} is new`),
    ...functions.map((one) => `function ${one} is gone`),
  ];
}

function find({ columns }: Schema, { table, name }: Pick<Column, 'table' | 'name'>): Column | undefined {
  return columns.find((one) => one.table === table && one.name === name);
}

function isNewlyRequired(before: Column | undefined, after: Column): boolean {
  if (!after.isRequired) return false;
  if (!before) return !after.hasDefault;
  return !before.isRequired || (before.hasDefault && !after.hasDefault);
}

export async function readSchema(client: pg.Client): Promise<Schema> {
  const { rows: columns } = await client.query<Column>(
    `select c.relname as "table", a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
       a.attnotnull as "isRequired", a.atthasdef or a.attidentity <> '' as "hasDefault"
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`,
  );
  const { rows: rules } = await client.query<Rule>(
    `select conrelid::regclass::text as "table", 'constraint ' || conname as name, pg_get_constraintdef(o.oid) as text,
       array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any(conkey)) as columns
     from pg_constraint o
     where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'x')
     union all
     select indrelid::regclass::text, 'unique index ' || indexrelid::regclass::text,
       regexp_replace(pg_get_indexdef(indexrelid), 'INDEX \\S+ ON', 'INDEX ON'),
       array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any(indkey))
     from pg_index join pg_class on pg_class.oid = indrelid
     where indisunique and relnamespace = 'public'::regnamespace`,
  );
  const { rows: functions } = await client.query<{ name: string }>(
    `select oid::regprocedure::text as name from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  return { columns, rules, functions: functions.map(({ name }) => name) };
}

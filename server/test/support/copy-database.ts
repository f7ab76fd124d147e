import pg from 'pg';
import { cloneDatabase } from './database.ts';

/** Copies all rows into a new database, as a dump and its restore do: triggers do not fire. */
export async function copyDatabase(url: string): Promise<{ url: string; drop(): Promise<void> }> {
  const copy = await cloneDatabase();
  const [source, target] = [new pg.Client(url), new pg.Client(copy.url)];
  await Promise.all([source.connect(), target.connect()]);
  try {
    await target.query(`set session_replication_role = 'replica'`);
    await source.query('begin isolation level repeatable read');
    const { rows } = await source.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public'`,
    );
    for (const { name } of rows) {
      const all = await source.query<{ rows: string | null }>(
        `select json_agg(to_json(one))::text as rows from ${name} one`,
      );
      await target.query(`delete from ${name}`);
      await target.query(
        `insert into ${name} overriding system value select * from json_populate_recordset(null::${name}, $1)`,
        [all.rows[0]?.rows ?? '[]'],
      );
    }
    await copySequences(source, target);
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
  return copy;
}

async function copySequences(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query<{ name: string; value: string }>(
    `select sequencename as name, last_value as value from pg_sequences where last_value is not null`,
  );
  for (const { name, value } of rows) await target.query('select setval($1::regclass, $2)', [name, value]);
}

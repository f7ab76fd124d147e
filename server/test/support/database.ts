import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';

/** Clones the migrated template into a new database on a real PostgreSQL. Call `drop` when done. */
export async function cloneDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await queryAsAdmin(`create database ${name} template template strategy file_copy`);
  return { url: urlOf(name), drop: () => dropDatabase(name) };
}

export async function createEmptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await queryAsAdmin(`create database ${name}`);
  return { url: urlOf(name), drop: () => dropDatabase(name) };
}

export async function queryAsAdmin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf('postgres') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function urlOf(database: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${database}`;
  // On a busy machine a connection may take longer than the default of 5 s.
  url.searchParams.set('connect_timeout', '60');
  return url.href;
}

/**
 * A pool's `end` resolves before its connections are gone. Dropping the database under one is an error that nobody handles, so it
 * waits a moment for them; those of killed processes are cut.
 */
async function dropDatabase(name: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf('postgres') });
  await client.connect();
  try {
    for (let turn = 0; turn < 20; turn++) {
      const { rows } = await client.query('select from pg_stat_activity where datname = $1 limit 1', [name]);
      if (rows.length === 0) break;
      await sleep(25);
    }
    await client.query(`drop database ${name} with (force)`);
  } finally {
    await client.end();
  }
}

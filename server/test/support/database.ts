import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** Clones the migrated template into a new database on a real PostgreSQL. Call `drop` when done. */
export async function cloneDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await queryAsAdmin(`create database ${name} template template strategy file_copy`);
  return { url: urlOf(name), drop: () => queryAsAdmin(`drop database ${name} with (force)`) };
}

export async function createEmptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await queryAsAdmin(`create database ${name}`);
  return { url: urlOf(name), drop: () => queryAsAdmin(`drop database ${name} with (force)`) };
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
  return url.href;
}

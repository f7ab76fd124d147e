import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Creates a database in a PostgreSQL that already runs; `stop` drops it. */
export async function openExternalPostgres(
  serverUrl: string,
): Promise<{ connectionString: string; stop(): Promise<void> }> {
  const name = `simplane_bench_${randomBytes(4).toString('hex')}`;
  await run(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    connectionString: url.href,
    stop: () => run(serverUrl, `drop database ${name} with (force)`),
  };
}

async function run(serverUrl: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

import type pg from 'pg';

/** A migration with this line has only `create index concurrently …;`, which stops no writes and cannot run in a transaction. */
const marker = /^-- concurrently$/m;

export function isConcurrent(text: string): boolean {
  return marker.test(text);
}

/** Builds the indexes one by one. One that a killed run left is incomplete, so it is removed first. */
export async function buildIndexes(client: pg.Client, text: string): Promise<void> {
  // The role may have a timeout for statements that serve requests.
  await client.query('set statement_timeout = 0');
  const statements = text.replace(/^--.*$/gm, '').split(';');
  for (const statement of statements.map((one) => one.trim()).filter((one) => one !== '')) {
    const [, name] = /^create index concurrently (\w+) on /.exec(statement) ?? [];
    if (!name) throw new Error(`not an index that is built concurrently: ${statement}`);
    await client.query(`drop index concurrently if exists ${name}`);
    await client.query(statement);
  }
}

import { type DatabaseAddress, parseConnectionUrl } from './connection-url.ts';
import type { Database } from './database.ts';
import { endClient } from './end-client.ts';
import { type Opened, openWritable } from './open-client.ts';
import { applicationName } from './schema-version.ts';
import { examineSession } from './session.ts';

/** Whether the connection goes through a pooler. Throws if that pooler does not support prepared statements. */
export async function examinePooler(db: Database, connectionString: string): Promise<{ isPooled: boolean }> {
  const client = await db.pool.connect();
  try {
    const { isDirect } = await examineSession(client, { settings: false, timeoutMs: 5_000 });
    if (isDirect) return { isPooled: false };
  } finally {
    client.release();
  }
  if (!(await supportsPreparedStatements(parseConnectionUrl(connectionString)))) {
    throw new Error(
      'DATABASE_URL goes through a pooler that does not support prepared statements: use PgBouncer 1.21 or newer with max_prepared_statements = 200, or pool_mode = session, or connect without a pooler',
    );
  }
  return { isPooled: true };
}

const clientCount = 4;
const rounds = 3;
// The statement does not exist, already exists, or a pooler reports a protocol violation.
const unsupportedCodes = new Set(['26000', '42P05', '08P01']);

/**
 * Several clients prepare a statement with the same name and different text, and run it repeatedly. A pooler that supports
 * prepared statements keeps them separate; with others they collide on a server connection or are missing there.
 */
async function supportsPreparedStatements(address: DatabaseAddress): Promise<boolean> {
  const opened: Opened[] = [];
  try {
    for (let index = 0; index < clientCount; index++) {
      opened.push(
        await openWritable(address, { applicationName: applicationName('check'), queryTimeoutMs: 5_000 }),
      );
    }
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < clientCount; turn++) {
        // In a different order each round, so that a round-robin pooler does not give each client its own connection again.
        const index = (turn + round) % clientCount;
        const { client } = opened[index] as Opened;
        const { rows } = await client.query<{ n: number }>({
          name: 'simplane_probe',
          text: `select ${index}::int as n`,
        });
        if (rows[0]?.n !== index) return false;
      }
    }
    return true;
  } catch (error) {
    if (unsupportedCodes.has((error as { code?: string }).code ?? '')) return false;
    throw error;
  } finally {
    await Promise.all(opened.map(({ client }) => endClient(client)));
  }
}

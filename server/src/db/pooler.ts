import { type DatabaseAddress, parseConnectionUrl } from './connection-url.ts';
import type { Database } from './database.ts';
import { endClient } from './end-client.ts';
import { type Opened, openWritable } from './open-client.ts';
import { applicationName } from './schema-version.ts';
import { examineSession } from './session.ts';

/** Whether a pooler stands between us and the server. Throws when it is one that cannot carry prepared statements. */
export async function examinePooler(db: Database, connectionString: string): Promise<{ isPooled: boolean }> {
  const client = await db.pool.connect();
  try {
    const { isDirect } = await examineSession(client, { settings: false, timeoutMs: 5_000 });
    if (isDirect) return { isPooled: false };
  } finally {
    client.release();
  }
  if (!(await carriesPreparedStatements(parseConnectionUrl(connectionString)))) {
    throw new Error(
      'DATABASE_URL leads through a pooler that does not carry prepared statements: use PgBouncer 1.21 or newer with max_prepared_statements = 200, or pool_mode = session, or connect without a pooler',
    );
  }
  return { isPooled: true };
}

const clientCount = 4;
const rounds = 3;
// The server has no such statement, has one of this name already, or says so in a pooler's words.
const refusals = new Set(['26000', '42P05', '08P01']);

/**
 * Each of several clients prepares a statement of one name and its own text, and runs it again and again. A pooler that
 * knows of prepared statements keeps them apart; otherwise they meet on a server connection, or miss each other.
 */
async function carriesPreparedStatements(address: DatabaseAddress): Promise<boolean> {
  const opened: Opened[] = [];
  try {
    for (let index = 0; index < clientCount; index++) {
      opened.push(
        await openWritable(address, { applicationName: applicationName('check'), queryTimeoutMs: 5_000 }),
      );
    }
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < clientCount; turn++) {
        // In another order each round: a pooler that goes round in a circle must not give everyone its own again.
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
    if (refusals.has((error as { code?: string }).code ?? '')) return false;
    throw error;
  } finally {
    await Promise.all(opened.map(({ client }) => endClient(client)));
  }
}

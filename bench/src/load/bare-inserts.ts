import { randomUUID } from 'node:crypto';
import pg from 'pg';

export type BareInserts = { databaseUrl: string; inFlight: number; count: number };

/** The unit of PostgreSQL's costs: inserts of one row into a plain table, each in a durable transaction of its own. */
export async function bareInserts(input: BareInserts): Promise<{ count: number }> {
  const { databaseUrl, inFlight, count } = input;
  const clients = Array.from({ length: inFlight }, () => new pg.Client({ connectionString: databaseUrl }));
  await Promise.all(clients.map((client) => client.connect()));
  await clients[0]?.query('create table if not exists bare_rows (id uuid primary key, body text not null)');
  const body = 'x'.repeat(200); // as long as an event
  let sent = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (sent < count) {
        sent += 1;
        await client.query({
          name: 'bare_insert',
          text: 'insert into bare_rows (id, body) values ($1, $2)',
          values: [randomUUID(), body],
        });
      }
    }),
  );
  await Promise.all(clients.map((client) => client.end()));
  return { count: sent };
}

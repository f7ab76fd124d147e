import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export type InsertEvents = { databaseUrl: string; perSecond: number; forMs: number };

const everyMs = 10;

/** Inserts events of the only account at a steady rate, as a busy worker does: many in one transaction. */
export async function insertEvents(input: InsertEvents): Promise<{ count: number }> {
  const { databaseUrl, perSecond, forMs } = input;
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const startedAtMs = performance.now();
  let count = 0;
  while (performance.now() - startedAtMs < forMs) {
    const due = Math.floor(((performance.now() - startedAtMs) / 1_000) * perSecond) - count;
    if (due > 0) {
      await db.query({ name: 'insert_events', text: insert, values: [due] });
      count += due;
    }
    await sleep(everyMs);
  }
  await db.end();
  return { count };
}

const insert = `
insert into events (account_id, id, type, created_at, body)
select a.id, new.id, 'bench.inserted', now(), json_build_object('id', new.id, 'type', 'bench.inserted', 'filler', repeat('x', 250))::text
from accounts a
cross join (select uuidv7() as id from generate_series(1, $1)) new`;

import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';

export type BareAccepts = { databaseUrl: string; inFlight: number; forMs: number };

/**
 * The ceiling for accepting orders: a bare `pg` loop that writes the same two rows as an order, in one statement and one
 * durable transaction each.
 */
export async function bareAccepts(input: BareAccepts): Promise<{ count: number; elapsedMs: number }> {
  const { databaseUrl, inFlight, forMs } = input;
  const clients = Array.from({ length: inFlight }, () => new pg.Client({ connectionString: databaseUrl }));
  await Promise.all(clients.map((client) => client.connect()));
  const accountUuid = await findAccount(clients[0] as pg.Client);
  const run = randomUUID();
  const fingerprint = randomBytes(32);
  const startedAtMs = performance.now();
  let count = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - startedAtMs < forMs) {
        count += 1;
        const uuid = newUuid();
        const now = new Date();
        const id = `exec_${uuid.slice(0, 26)}`;
        await client.query({
          name: 'bare_accept',
          text: bareAccept,
          values: [
            accountUuid,
            `${run}-${count}`,
            fingerprint,
            `/v1/executions/${id}`,
            answer(id, now),
            now,
            new Date(now.getTime() + 86_400_000),
            uuid,
          ],
        });
      }
    }),
  );
  const elapsedMs = performance.now() - startedAtMs;
  await Promise.all(clients.map((client) => client.end()));
  return { count, elapsedMs };
}

async function findAccount(client: pg.Client): Promise<string | undefined> {
  return (await client.query<{ id: string }>('select id from accounts limit 1')).rows[0]?.id;
}

const bareAccept = `
with stored as (
  insert into idempotency_keys (account_id, key, fingerprint, status, location, body, created_at, expires_at)
  values ($1, $2, $3, 202, $4, $5, $6, $7) on conflict do nothing returning 1
)
insert into execution_queue (account_id, id, type, product_id, input, created_at)
select $1, $8, 'esim.provision', 'prod_europe_5gb_30d', '{"metadata": {}, "description": null}', $6 from stored`;

/** As long as the answer to a real order. */
export function answer(id: string, now: Date): string {
  return JSON.stringify({
    id,
    object: 'execution',
    execution_id: id,
    type: 'esim.provision',
    status: 'queued',
    product_id: 'prod_europe_5gb_30d',
    iccid: null,
    attempts: 0,
    created: Math.floor(now.getTime() / 1_000),
    finished_at: null,
  });
}

/** Time-ordered like the server's ids, so the index grows at its end. */
export function newUuid(): string {
  const hex = Date.now().toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

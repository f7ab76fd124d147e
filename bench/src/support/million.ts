import pg from 'pg';
import { type Deployment, startDeployment, type Target } from './deployment.ts';

export const stored = 1_000_000;

/** Two servers in one PostgreSQL: one on an empty database, one with a million rows per table. */
export type Million = { deployment: Deployment; empty: Target; full: Target };

/** Scenarios share it, because filling it takes a while; none may remove the stored rows. */
export async function startMillion(
  profileDir: string | undefined,
  progress: (text: string) => void,
): Promise<Million> {
  const settings = { SIMPLANE_ROLE: 'api' };
  const deployment = await startDeployment({ settings, profileDir });
  try {
    const full = await deployment.startServer(settings, await deployment.createDatabase('million'));
    progress(`storing ${stored.toLocaleString('en')} executions, events, deliveries, attempts and keys`);
    await fill(full.databaseUrl);
    return { deployment, empty: deployment, full };
  } catch (error) {
    await deployment.stop();
    throw error;
  }
}

/** Two tables at a time, one per core. With `wal_level = minimal`, a table truncated in the same transaction skips the WAL. */
async function fill(connectionString: string): Promise<void> {
  const setUp = new pg.Client({ connectionString });
  await setUp.connect();
  await setUp.query(createIds);
  const tables = Object.entries(inserts);
  const work = async () => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    await client.query('set session_replication_role = replica'); // no triggers: the feed is stored below
    for (let next = tables.shift(); next; next = tables.shift()) {
      const [table, insert] = next;
      await client.query('begin');
      await client.query(`truncate ${table}`);
      await client.query(insert, [stored]);
      await client.query('commit');
      await client.query(`vacuum (analyze) ${table}`);
    }
    await client.end();
  };
  await Promise.all([work(), work()]);
  await setUp.query('drop function seeded_id');
  await setUp.query('checkpoint');
  await setUp.end();
}

// One per millisecond, up to now: rows older than SIMPLANE_RETENTION would be deleted during the measurement.
const firstMs = Date.now() - stored;

// Time-ordered like UUIDv7, so the indexes have a realistic shape. `kind` keeps the ids of different tables distinct.
const createIds = `
create function seeded_id(kind integer, n integer) returns uuid language sql immutable parallel safe as $$
  select (lpad(to_hex(${firstMs} + n), 12, '0') || '70008' || lpad(to_hex(kind), 3, '0') || lpad(to_hex(n), 12, '0'))::uuid
$$`;

const account = '(select id from accounts)';

// Largest first.
const inserts = {
  deliveries: `
    insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at, finished_at,
                            duration_ms, status_code)
    select ${account}, seeded_id(3, n), seeded_id(2, n), seeded_id(9, n % 20), 'succeeded', 'event', 1, now(), now(), 5, 200
    from generate_series(1, $1::integer) n`,
  idempotency_keys: `
    insert into idempotency_keys (account_id, key, fingerprint, status, location, body, created_at, expires_at)
    select ${account}, seeded_id(7, n)::text, sha256(n::text::bytea), 202, '/v1/executions/exec_00000000000000000000000000',
           repeat('x', 300), now(), now() + interval '1 day'
    from generate_series(1, $1::integer) n`,
  events: `
    insert into events (account_id, id, type, created_at, body)
    select ${account}, seeded_id(2, n), 'esim.provisioned', now(), '{"id":"","type":"esim.provisioned","object":"event","created":1700000000,"data":{"n":"' || repeat('x', 120) || '"}}'
    from generate_series(1, $1::integer) n`,
  executions: `
    insert into executions (account_id, id, type, status, product_id, input, created_at, finished_at)
    select ${account}, seeded_id(1, n), 'esim.provision', 'succeeded', 'prod_us_1gb_7d', '{}', now(), now()
    from generate_series(1, $1::integer) n`,
  // Runs as the sequencer writes them under load.
  event_feed: `
    insert into event_feed (account_id, first_position, event_ids, mark, oldest_id, newest_id)
    select ${account}, min(n), array_agg(seeded_id(2, n) order by n), 1, seeded_id(2, min(n)), seeded_id(2, max(n))
    from generate_series(1, $1::integer) n group by (n - 1) / 32`,
  event_feed_heads: `
    insert into event_feed_heads (account_id, last_position, mark, newest_id)
    select ${account}, n, 1, seeded_id(2, n) from (select $1::integer) as last (n)`,
  delivery_attempts: `
    insert into delivery_attempts (account_id, delivery_id, number, at, duration_ms, status_code)
    select ${account}, seeded_id(3, n), 1, now(), 5, 200 from generate_series(1, $1::integer) n`,
};

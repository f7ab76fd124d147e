import pg from 'pg';

type Rows = {
  events: number;
  /** Deliveries and usage records. */
  others: number;
  accounts: { active: number; empty: number };
  progress(text: string): void;
};

const runSize = 32;

/**
 * Stores rows from more than a month ago, in the order of time, those of the active accounts mixed. Each table in one transaction: with
 * `wal_level = minimal`, a table truncated in the same transaction skips the WAL.
 */
export async function storeOldRows(connectionString: string, rows: Rows): Promise<void> {
  const { events, others, accounts, progress } = rows;
  const client = new pg.Client({ connectionString });
  await client.connect();
  // No triggers: the feed is stored as the sequencer writes it under load.
  await client.query('set session_replication_role = replica');
  await client.query(createFunctions(accounts.active));
  progress(`storing ${events.toLocaleString('en')} events and their feed`);
  await client.query(
    `insert into accounts (id, name, api_version, created_at)
     select old_account(n), 'Bench', '2026-11-01', now() from generate_series(0, ${accounts.active - 1}) n
     union all
     select gen_random_uuid(), 'Empty', '2026-11-01', now() from generate_series(1, ${accounts.empty})`,
  );
  const counts: Record<string, number> = {
    events,
    event_feed: events / runSize,
    event_feed_heads: accounts.active,
    deliveries: others,
    usage_records: others,
  };
  for (const [table, insert] of Object.entries(insertsOf(accounts.active))) {
    // Measured by itself, and not while the rows are deleted.
    await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await client.query('begin');
    await client.query(`truncate ${table}`);
    // Built at the end, in half of the time.
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition
       from pg_index where indrelid = $1::regclass and not indisprimary`,
      [table],
    );
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    await client.query(insert, [counts[table]]);
    for (const { definition } of indexes) await client.query(definition);
    await client.query('commit');
    await client.query(`vacuum (analyze) ${table}`);
  }
  await client.query('drop function old_id, old_account; checkpoint');
  await client.end();
}

// 5,000 a second, from 40 days ago on.
const createFunctions = (accounts: number) => `
create function old_id(kind integer, n integer) returns uuid language sql immutable parallel safe as $$
  select (lpad(to_hex(${Date.now() - 40 * 86_400_000} + n / 5), 12, '0')
    || '70008' || lpad(to_hex(kind), 3, '0') || lpad(to_hex(n), 12, '0'))::uuid
$$;
create function old_account(n integer) returns uuid language sql immutable parallel safe as $$
  select ('00000000-0000-7000-8000-' || lpad(to_hex(n % ${accounts}), 12, '0'))::uuid
$$`;

// A run has events of one account: `runSize` in a row.
const insertsOf = (accounts: number): Record<string, string> => ({
  events: `
    insert into events (account_id, id, type, created_at, body)
    select old_account(n / ${runSize}), old_id(2, n), 'esim.provisioned', now(),
      '{"id":"evt_' || lpad(n::text, 26, '0') || '","object":"event","type":"esim.provisioned","api_version":"2026-11-01","created":1700000000,"data":{"iccid":"8999900'
      || lpad((n % 1000000)::text, 12, '0') || '","product_id":"prod_europe_5gb_30d","execution_id":"exec_' || lpad(n::text, 26, '0') || '","status":"provisioned"}}'
    from generate_series(0, $1::integer - 1) n`,
  event_feed: `
    insert into event_feed (account_id, first_position, event_ids, mark, oldest_id, newest_id, sequenced_at)
    select old_account(run), run / ${accounts} * ${runSize} + 1,
      array(select old_id(2, n) from generate_series(run * ${runSize}, run * ${runSize} + ${runSize - 1}) n), 1,
      old_id(2, run * ${runSize}), old_id(2, run * ${runSize} + ${runSize - 1}), now() - interval '40 days'
    from generate_series(0, $1::integer - 1) run`,
  event_feed_heads: `
    insert into event_feed_heads (account_id, last_position, mark, newest_id)
    select account_id, max(first_position) + ${runSize - 1}, 1, (array_agg(newest_id order by newest_id desc))[1]
    from event_feed
    where $1::integer > 0
    group by account_id`,
  deliveries: `
    insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at, finished_at,
                            duration_ms, status_code)
    select old_account(n), old_id(3, n), old_id(2, n), old_id(9, n % 20), 'succeeded', 'event', 1, now(), now(), 5, 200
    from generate_series(0, $1::integer - 1) n`,
  usage_records: `
    insert into usage_records (iccid, record_id, bytes, observed_at)
    select '8999900' || lpad((n % 10000)::text, 12, '0'), 'cdr-' || n, 1000 + n, now() - interval '40 days' + n * interval '200 microseconds'
    from generate_series(0, $1::integer - 1) n`,
});

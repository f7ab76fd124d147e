import type pg from 'pg';

type Row = { name: string; address: string; count: number };

/**
 * Throws if processes are connected that do not know this version of the schema. Their connections are named
 * `simplane/<newest known migration>`; earlier releases used just `simplane`.
 */
export async function refuseOlderProcesses(
  client: pg.Client,
  migration: { name: string; version: number },
): Promise<void> {
  // Within a transaction, pg_stat_activity is a snapshot until it is cleared.
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<Row>(
    `select application_name as name, coalesce(host(client_addr), 'a local socket') as address, count(*)::int as count
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and application_name ~ '^simplane([ /]|$)' and application_name !~ ' (migrate|check)$'
       and coalesce(substring(application_name from '^simplane/(\\d{1,9})')::int, 0) < $1
     group by 1, 2 order by 1, 2`,
    [migration.version],
  );
  if (rows.length === 0) return;
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  const from = rows.map(({ name, address, count }) => `${count} as "${name}" from ${address}`).join(', ');
  throw new Error(
    `migration ${migration.name} breaks processes of older releases, and ${total} of their connections are open: ${from}. Stop all older processes, then start again; nothing was changed. If a pooler keeps connections of stopped processes, reconnect it (PgBouncer: RECONNECT)`,
  );
}

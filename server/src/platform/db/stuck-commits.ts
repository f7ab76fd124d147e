import type pg from 'pg';

/**
 * Commits that wait for a synchronous standby, each identified by a text that stays the same while it waits. PostgreSQL does
 * not bound this wait: `statement_timeout` no longer applies, and a backend keeps waiting after its client is gone.
 */
export async function readWaitingCommits(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ commit: string }>(
    `select pid || ' ' || query_start as commit from pg_stat_activity
     where datname = current_database() and wait_event = 'SyncRep'`,
  );
  return new Set(rows.map(({ commit }) => commit));
}

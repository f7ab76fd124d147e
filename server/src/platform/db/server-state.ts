import type { Database } from './database.ts';

export type ServerState = {
  version: string;
  database_now: Date;
  fsync: string;
  synchronous_commit: string;
  full_page_writes: string;
  max_connections: number;
  connections: number;
};

/** The server's version, durability settings, clock and connections, for `doctor`. */
export async function readServerState(db: Database): Promise<ServerState> {
  const [state] = await db.query<ServerState>({
    name: 'server_state',
    text: `select current_setting('server_version') as version, clock_timestamp() as database_now,
                  current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
                  current_setting('full_page_writes') as full_page_writes,
                  current_setting('max_connections')::int as max_connections,
                  (select count(*)::int from pg_stat_activity) as connections`,
  });
  return state as ServerState;
}

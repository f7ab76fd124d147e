import type pg from 'pg';
import type { DatabaseAddress } from './connection-url.ts';

export type Session = {
  /** False behind a pooler: then what is set here may be set for others, and is gone with the next transaction. */
  isDirect: boolean;
  isStandby: boolean;
  /** As the next transaction would be; true on every standby. */
  isReadOnly: boolean;
};

/**
 * What every statement of ours runs under. Set on each connection that is ours alone; for those that a pooler shares, stored
 * with the role (role-settings.ts). Never sent as startup parameters, because PgBouncer refuses a client that sends them.
 */
export const sessionSettings: Record<string, string> = {
  // No statement of ours should read a table from end to end, however small the planner believes it to be: plans are kept
  // while tables grow.
  enable_seqscan: 'off',
  // The server gives up before the client (15 s) does, and says why.
  statement_timeout: '10s',
  idle_in_transaction_session_timeout: '15s',
};

const look = `pg_backend_pid() = $1::bigint as "isDirect",
  pg_is_in_recovery() as "isStandby",
  current_setting('transaction_read_only')::boolean as "isReadOnly"`;
const set = Object.entries(sessionSettings)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(' || ');

/** Looks at a connection that was just opened; sets it up where `settings` asks and it is ours alone. One round trip. */
export async function examineSession(
  client: pg.ClientBase,
  { settings, timeoutMs }: { settings: boolean; timeoutMs: number },
): Promise<Session> {
  // A pooler makes up the process id that it tells a client; nobody else does.
  const { processID } = client as unknown as { processID: number };
  const text = `select ${look}${settings ? `, case when pg_backend_pid() = $1::bigint then ${set} end` : ''}`;
  const query = { text, values: [processID], query_timeout: timeoutMs };
  const { rows } = await client.query<Session>(query);
  return rows[0] as Session;
}

export function isWritable({ isStandby, isReadOnly }: Session, target: DatabaseAddress['target']): boolean {
  return target === 'primary' ? !isStandby : !isReadOnly;
}

import type pg from 'pg';
import type { DatabaseAddress } from './connection-url.ts';

export type Session = {
  /** False behind a pooler, where session settings may affect other clients and are lost with the next transaction. */
  isDirect: boolean;
  isStandby: boolean;
  /** Whether the next transaction would be read-only; always true on a standby. */
  isReadOnly: boolean;
};

/**
 * The settings for all our statements. Set on each direct connection; behind a pooler, stored with the role
 * (prepare-database.ts). Never sent as startup parameters, because PgBouncer refuses clients that send them.
 */
export const sessionSettings: Record<string, string> = {
  // No statement should scan a whole table, even one the planner considers small, because plans are kept while tables grow.
  enable_seqscan: 'off',
  // That adds 1e10 to the cost of some plans, which PostgreSQL would then compile: 350 ms for a statement of 0.03 ms.
  jit: 'off',
  // Shorter than the client's 15 s, so that the server reports the reason.
  statement_timeout: '10s',
  idle_in_transaction_session_timeout: '15s',
};

const stateColumns = `pg_backend_pid() = $1::bigint as "isDirect",
  pg_is_in_recovery() as "isStandby",
  current_setting('transaction_read_only')::boolean as "isReadOnly"`;
const setConfig = Object.entries(sessionSettings)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(' || ');

/** Reads the state of a new connection and, if `settings` is true and it is direct, applies the settings. One round trip. */
export async function examineSession(
  client: pg.ClientBase,
  { settings, timeoutMs }: { settings: boolean; timeoutMs: number },
): Promise<Session> {
  // Only a pooler gives the client a made-up process id.
  const { processID } = client as unknown as { processID: number };
  const text = `select ${stateColumns}${settings ? `, case when pg_backend_pid() = $1::bigint then ${setConfig} end` : ''}`;
  const query = { text, values: [processID], query_timeout: timeoutMs };
  const { rows } = await client.query<Session>(query);
  return rows[0] as Session;
}

export function isWritable({ isStandby, isReadOnly }: Session, target: DatabaseAddress['target']): boolean {
  return target === 'primary' ? !isStandby : !isReadOnly;
}

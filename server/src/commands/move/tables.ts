/** How the rows of a table go to the other cell. `rows` finds those of the account `$1`. */
type Table = { name: string; rows: string };

type Replicated = Table & {
  /** What is replicated besides inserts. `changes`: the primary key has the account, as a row filter needs. */
  how: 'changes' | 'full rows' | 'inserts only';
  /** Rows may go on being written, or removed for their age, while the account is frozen. */
  isCompared: boolean;
  /** Also in the old cell's feed for operators, or its record of what was done: retention removes it there. */
  staysBehind?: boolean;
};

const ofAccount = 'account_id = $1';

function replicatedTable(name: string, options: Partial<Replicated> = {}): Replicated {
  return { name, rows: ofAccount, how: 'changes', isCompared: true, ...options };
}

/** What grows with the account: copied while it works, by replication. Nothing here gives anybody work to do. */
export const replicated: readonly Replicated[] = [
  replicatedTable('audit_log', { how: 'inserts only', staysBehind: true }),
  replicatedTable('bundles'),
  replicatedTable('deliveries', { isCompared: false }),
  replicatedTable('delivery_attempts', { isCompared: false }),
  replicatedTable('endpoint_hours', { isCompared: false }),
  replicatedTable('esim_metadata'),
  replicatedTable('esim_milestones'),
  replicatedTable('esims'),
  replicatedTable('event_feed', { staysBehind: true }),
  replicatedTable('events', { staysBehind: true }),
  replicatedTable('executions'),
  replicatedTable('idempotency_keys', { isCompared: false }),
  replicatedTable('install_links', { isCompared: false }),
  replicatedTable('order_counts'),
  replicatedTable('rejected_usage', { isCompared: false }),
  replicatedTable('request_log', { isCompared: false }),
  replicatedTable('usage_days', { how: 'full rows', isCompared: false }),
  replicatedTable('usage_records', { how: 'full rows' }),
];

type Carried = Table & {
  /** Columns that are not as in the old cell, as JSON. */
  changed?: string;
  /** What the old cell needs to say where the account is, or to let its feed for operators expire. */
  staysBehind?: boolean;
};

const unleased = '{"leased_until": null}';
const ofKeys = 'key_id in (select id from api_keys where account_id = $1)';

/**
 * What is small, and what gives workers, senders and chores something to do: copied in one transaction when the account is frozen, so
 * that the new cell finds either nothing of it or all. In the order of their references.
 */
export const carried: readonly Carried[] = [
  { name: 'accounts', rows: 'id = $1', staysBehind: true },
  { name: 'api_keys', rows: ofAccount, staysBehind: true },
  { name: 'dashboard_sessions', rows: ofKeys, staysBehind: true },
  { name: 'dashboard_links', rows: ofKeys, staysBehind: true },
  { name: 'webhook_endpoints', rows: ofAccount },
  { name: 'webhook_secrets', rows: ofAccount },
  { name: 'endpoint_gaps', rows: ofAccount },
  { name: 'batches', rows: ofAccount },
  { name: 'branding', rows: ofAccount },
  { name: 'account_closings', rows: ofAccount },
  { name: 'erasures', rows: ofAccount },
  { name: 'event_consumers', rows: ofAccount },
  { name: 'event_feed_heads', rows: ofAccount, staysBehind: true },
  { name: 'counted_events', rows: ofAccount, staysBehind: true },
  { name: 'recoveries', rows: ofAccount },
  { name: 'execution_resolutions', rows: ofAccount, changed: unleased },
  { name: 'execution_queue', rows: ofAccount, changed: unleased },
  { name: 'blocked_deliveries', rows: ofAccount },
  { name: 'delivery_queue', rows: ofAccount },
  { name: 'core_queue', rows: ofAccount, changed: unleased },
];

/** Rows that mean something in one cell only. */
export const cellsOwn: readonly string[] = [
  'account_moves',
  'endpoint_leases',
  'endpoint_places', // of the deployment
  'failure_group_retries', // an operator's walk through the failures of all accounts
  'unsequenced_events', // the freeze waits until the account has none
];

/**
 * What a client was told was done: a frozen account gets no new rows here, and no changed ones. The audit log too, where every write of a
 * client has its entry.
 */
export const guarded: readonly string[] = [
  'bundles',
  'esims',
  'event_consumers',
  'events',
  'executions',
  'idempotency_keys',
];

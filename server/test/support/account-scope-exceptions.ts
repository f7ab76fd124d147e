/**
 * Statements that may touch rows of an account without naming it, by name, with the tables they may do that to. Callers of
 * the API reach none of them with an id of their choice.
 */
export const exceptions: readonly { statement: RegExp; tables: readonly string[]; why: string }[] = [
  {
    statement: /^api_key(s_find|_hashes|_new_hashes|_touch)$/,
    tables: ['api_keys'],
    why: 'The key is what tells the account.',
  },
  {
    statement: /^api_key_(list|revoke|set_scopes)$/,
    tables: ['api_keys'],
    why: 'The operator’s own commands, over all accounts.',
  },
  {
    statement: /^(esim_owner|iccid_in_use)$/,
    tables: ['esims', 'execution_queue'],
    why: 'An ICCID is unique over all accounts, and networks report by ICCID alone.',
  },
  {
    statement: /^esim_(lock_carried|find_unready)$/,
    tables: ['esims', 'execution_queue'],
    why: 'In live one network reports for every account; in a sandbox the account is a condition of it.',
  },
  {
    statement: /^esim_(store_ordered|settle_provisioned)$/,
    tables: ['esims', 'execution_queue'],
    why: 'Whether an ICCID is taken concerns all accounts; the eSIM is found by ICCID and its order, which is held.',
  },
  {
    statement: /^(execution_(claim|release_orphaned)|bundle_lock_holders_due|idempotency_delete_expired)$/,
    tables: ['execution_queue', 'bundles', 'esims', 'idempotency_keys'],
    why: 'Workers and chores take what is due, whoever’s it is.',
  },
  {
    statement:
      /^(sender_endpoints(_due)?|endpoint_cancel_undeliverable|lease_(end(_abandoned)?|delete_stale))$/,
    tables: ['delivery_queue', 'endpoint_leases'],
    why: 'The sender looks for due deliveries by endpoint, over all accounts; endpoint ids are unique.',
  },
  {
    statement: /^recovery_(take|close_hopeless)$/,
    tables: ['recoveries', 'webhook_endpoints'],
    why: 'A chore takes any recovery that is open.',
  },
  {
    statement: /^sealing_/,
    tables: ['esims', 'executions', 'execution_queue', 'idempotency_keys', 'webhook_secrets'],
    why: 'The operator reseals the secrets of all accounts.',
  },
  {
    statement: /^queues_read$/,
    tables: ['execution_queue', 'delivery_queue', 'webhook_endpoints'],
    why: 'Figures for the operator, over all accounts.',
  },
];

/**
 * Statements that may access these tables without naming the account. API callers cannot pass any of them an id of their choice.
 */
export const exceptions: readonly { statement: RegExp; tables: readonly string[]; why: string }[] = [
  {
    statement: /^install_link_find$/,
    tables: ['install_links'],
    why: 'The token determines the account.',
  },
  {
    statement:
      /^(api_key(s_find|_hashes|_new_hashes|_touch)|sessions_find|session_lock_key|link_(find|insert))$/,
    tables: ['api_keys'],
    why: 'The key determines the account.',
  },
  {
    statement: /^(api_key_(list|owner|set_scopes|\w+_of_operator)|session_\w+_of_operator)$/,
    tables: ['api_keys'],
    why: 'Operator commands for all accounts.',
  },
  {
    statement: /^feed_assign_positions$/,
    tables: ['unsequenced_events'],
    why: 'The sequencer takes the events of all accounts; each run is written under its own account.',
  },
  {
    statement: /^(esim_(owner|find_(own|left)_iccids)|iccid_in_use)$/,
    tables: ['esims', 'execution_queue'],
    why: 'An ICCID is unique across all accounts, and networks report by ICCID alone.',
  },
  {
    statement: /^esim_(lock_carried|find_unready)$/,
    tables: ['esims', 'execution_queue'],
    why: 'In live mode the network reports for every account; in a sandbox the statement compares the account.',
  },
  {
    statement: /^esim_(store_ordered|settle_provisioned_\w+)$/,
    tables: ['esims', 'execution_queue'],
    why: 'An ICCID may be taken in any account; the eSIM is found by ICCID and its order, which the worker holds.',
  },
  {
    statement:
      /^(execution_(claim(_of_types|_repeatable)?|release_orphaned)|bundle_lock_holders_due|service_lock_(ending|next)|idempotency_delete_expired)$/,
    tables: ['execution_queue', 'bundles', 'esims', 'idempotency_keys'],
    why: 'Workers and chores process due rows of all accounts.',
  },
  {
    statement:
      /^(sender_endpoints(_due)?|endpoint_cancel_undeliverable_\w+|lease_(end(_abandoned)?|delete_stale))$/,
    tables: ['delivery_queue', 'blocked_deliveries', 'endpoint_leases', 'webhook_endpoints'],
    why: 'The sender finds due deliveries of all accounts by endpoint; endpoint ids are unique.',
  },
  {
    statement: /^core_queue_(claim|list|behind|count_pending)$/,
    tables: ['core_queue'],
    why: 'Workers send due states of all accounts, which take turns.',
  },
  {
    statement: /^worker_beat$/,
    tables: [
      'account_closings',
      'erasures',
      'batches',
      'bundles',
      'esims',
      'recoveries',
      'failure_group_retries',
      'blocked_deliveries',
      'endpoint_places',
      'event_feed_heads',
      'webhook_endpoints',
      'execution_resolutions',
    ],
    why: 'Says only whether anything of any account waits for a chore.',
  },
  {
    statement: /^worker_end_leases_of_dead$/,
    tables: ['execution_queue', 'endpoint_leases', 'core_queue'],
    why: 'A dead worker held work of all accounts.',
  },
  {
    statement: /^(closing_lock_next|account_list(_page)?)$/,
    tables: ['account_closings'],
    why: 'A chore closes accounts in turn, and the operator lists them.',
  },
  {
    statement: /^erasure_lock_next$/,
    tables: ['erasures', 'account_closings', 'esims', 'execution_queue'],
    why: 'A chore erases for accounts in turn; what it reads of each is found by its account.',
  },
  {
    statement: /^erasure_rejected_usage$/,
    tables: ['rejected_usage'],
    why: 'Rejected usage of an eSIM goes, whoever reported it.',
  },
  {
    statement: /^batch_lock_finishable$/,
    tables: ['batches', 'executions', 'execution_queue'],
    why: 'A chore finishes the batches of all accounts; the orders of each are found by its account.',
  },
  {
    statement: /^ordered_(set_positions|find_promotable(_of_endpoint)?)$/,
    tables: ['blocked_deliveries', 'event_feed_heads'],
    why: 'Workers put the deliveries of all accounts in order; endpoint ids are unique.',
  },
  {
    statement: /^overview_claim_uncounted$/,
    tables: ['counted_events', 'event_feed_heads'],
    why: 'A chore counts the events of all accounts, each under its own.',
  },
  {
    statement: /^recovery_(take|close_hopeless)$/,
    tables: ['recoveries', 'webhook_endpoints'],
    why: 'A chore runs open recoveries of all accounts.',
  },
  {
    statement: /^endpoint_take_health_reports$/,
    tables: ['webhook_endpoints'],
    why: 'A chore reports the health of all accounts’ endpoints.',
  },
  {
    statement: /^rejected_usage_list(_of_esim)?$/,
    tables: ['rejected_usage'],
    why: 'The operator sees the rejected records of all reporting keys.',
  },
  {
    statement: /^endpoint_health_list_\w+$/,
    tables: ['webhook_endpoints', 'delivery_queue', 'blocked_deliveries'],
    why: 'The operator lists the endpoints of all accounts.',
  },
  {
    statement: /^retention_(count|delete|oldest)_\w+$/,
    tables: [
      'audit_log',
      'endpoint_gaps',
      'endpoint_hours',
      'install_links',
      'rejected_usage',
      ...['events', 'delivery_queue', 'blocked_deliveries', 'deliveries', 'recoveries', 'delivery_attempts'],
      ...['request_log', 'order_counts', 'esim_milestones'],
    ],
    why: 'A chore deletes old rows of all accounts in the order in which they lie on disk.',
  },
  {
    statement: /^feed_find_expiry$/,
    tables: ['unsequenced_events'],
    why: 'Old events of all accounts are deleted together; each account’s own are found by its id.',
  },
  {
    statement: /^audit_(list_all\w*|\w+_of_all)$/,
    tables: ['audit_log', 'esims', 'executions', 'execution_queue'],
    why: 'The operator reads the entries of all accounts.',
  },
  {
    statement: /^sealing_/,
    tables: ['esims', 'executions', 'execution_queue', 'idempotency_keys', 'webhook_secrets'],
    why: 'The operator reseals the secrets of all accounts.',
  },
  {
    statement: /^operator_search_\w+$/,
    tables: [
      'api_keys',
      'audit_log',
      'batches',
      'blocked_deliveries',
      'bundles',
      'deliveries',
      'delivery_queue',
      'esims',
      'events',
      'execution_queue',
      'executions',
      'recoveries',
      'request_log',
      'webhook_endpoints',
    ],
    why: 'The operator searches all accounts.',
  },
  {
    statement: /^(operator_(?!search)|failure_group_)\w+$/,
    tables: ['executions', 'execution_queue', 'execution_resolutions', 'failure_group_retries'],
    why: 'The operator sees the executions of all accounts.',
  },
  {
    statement: /^overview_read_backlogs$/,
    tables: ['execution_queue', 'delivery_queue', 'blocked_deliveries'],
    why: 'The operator’s overview of all accounts.',
  },
  {
    statement: /^queues_read$/,
    tables: ['execution_queue', 'delivery_queue', 'blocked_deliveries', 'webhook_endpoints'],
    why: 'Metrics for the operator, across all accounts.',
  },
];

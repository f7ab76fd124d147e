// Generated from contract/ by `npm run generate`; edit there.

export const sdkVersion = '0.2.0';

export const currentApiVersion = '2026-11-01';

export type ApiVersion = '2026-11-01';

export type ErrorType = 'invalid_request_error' | 'authentication_error' | 'permission_error' | 'idempotency_error' | 'rate_limit_error' | 'conflict_error' | 'api_error';

export type ErrorCode =
  | 'parameter_missing'
  | 'parameter_invalid'
  | 'parameter_unknown'
  | 'json_invalid'
  | 'cursor_invalid'
  | 'query_too_broad'
  | 'cursor_expired'
  | 'cursor_behind'
  | 'consumer_limit_reached'
  | 'idempotency_key_invalid'
  | 'idempotency_key_reused'
  | 'api_version_unknown'
  | 'url_not_allowed'
  | 'request_malformed'
  | 'api_key_missing'
  | 'api_key_invalid'
  | 'api_key_expired'
  | 'api_key_wrong_mode'
  | 'wrong_cell'
  | 'session_expired'
  | 'csrf_token_invalid'
  | 'host_not_allowed'
  | 'api_key_address_refused'
  | 'api_key_settings_refused'
  | 'scope_missing'
  | 'account_suspended'
  | 'sandbox_only'
  | 'origin_not_allowed'
  | 'resource_missing'
  | 'route_missing'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'idempotency_in_progress'
  | 'esim_not_ready'
  | 'state_conflict'
  | 'endpoint_limit_reached'
  | 'install_link_limit_reached'
  | 'api_key_limit_reached'
  | 'core_not_connected'
  | 'body_too_large'
  | 'content_type_unsupported'
  | 'rate_limited'
  | 'execution_limit_reached'
  | 'batch_limit_reached'
  | 'stream_limit_reached'
  | 'headers_too_large'
  | 'internal'
  | 'unavailable';

/** A tenant of the deployment, as its operator sees it. */
export type Account = {
  id: string;
  object: 'account';
  name: string;
  /** A suspended account can read and revoke keys, but not write. A closed one has no keys that work, and is not opened again. */
  status: 'active' | 'suspended' | 'closed';
  /** Maximum number of webhook endpoints; null: the deployment’s limit. */
  max_webhook_endpoints: number | null;
  /** Maximum number of queued and running executions; null: no limit. */
  max_open_executions: number | null;
  /** Requests per second of all its keys together, in each process, with a burst of twice that; null: the deployment’s limit per key. */
  requests_per_second: number | null;
  /** The API version of its requests without `Service-Version`. */
  api_version: string;
  /** When the account was created. Unix time in seconds. */
  created: number;
  /** When the account was closed; null if it is open. Unix time in seconds. */
  closed_at: number | null;
  /** How far the closing has come; null for an open account. */
  closing: {
    /** Whether its eSIMs are terminated. */
    terminate_esims: boolean;
    /** Terminations ordered so far. */
    terminations: number;
    /** When its last order had ended, and the last termination with it; null until then. Unix time in seconds. */
    finished_at: number | null;
  } | null;
};

/** A key of an account, without its secret. */
export type ApiKey = {
  id: string;
  object: 'api_key';
  name: string;
  /** What the key may do. */
  scopes: Array<'read' | 'write' | 'network' | 'admin' | 'install' | 'operator' | 'operator_write'>;
  /** The key itself. Returned only when it is created or rolled. */
  key?: string;
  /** Last four characters of the key. */
  last4: string;
  /** When the key was created. Unix time in seconds. */
  created: number;
  /** Who created the key; null if it was created before this was recorded. */
  created_by: {
    /** `api_key`: a key of the account. `operator` and `command_line`: the operator of the deployment. */
    type: 'api_key' | 'operator' | 'command_line';
    /** Id of the key that created it. */
    id: string | null;
    /** Name that key had then. */
    name: string | null;
  } | null;
  /** When the key stops working; null if it does not expire. Unix time in seconds. */
  expires_at: number | null;
  /** When the key was last used, to within about a minute. Unix time in seconds. */
  last_used_at: number | null;
  /** Networks the key may be used from. Empty: from anywhere. */
  allowed_cidrs: string[];
  /** When the key was revoked. Unix time in seconds. */
  revoked_at: number | null;
};

/** Something that was changed, or a secret that was shown again. It is written in the same transaction as the change, so it exists if and only if the change was made. */
export type AuditEntry = {
  id: string;
  object: 'audit_entry';
  /** Who did it. An account sees its operator without id and address. */
  actor: {
    type: 'api_key' | 'operator' | 'command_line' | 'anonymous';
    /** The key’s id. */
    id: string | null;
    /** The key’s name at that time. */
    name: string | null;
  };
  /** What happened to the target. */
  action: 'api_key.created' | 'api_key.updated' | 'api_key.rolled' | 'api_key.revoked' | 'webhook_endpoint.created' | 'webhook_endpoint.updated' | 'webhook_endpoint.enabled' | 'webhook_endpoint.deleted' | 'webhook_endpoint.secret_rotated' | 'webhook_endpoint.recovery_started' | 'webhook_endpoint.probed' | 'event.test_sent' | 'event.replayed' | 'delivery.retried' | 'delivery.skipped' | 'event_consumer.created' | 'event_consumer.acknowledged' | 'event_consumer.moved' | 'event_consumer.deleted' | 'esim.ordered' | 'esim.updated' | 'esim.suspension_ordered' | 'esim.resumption_ordered' | 'esim.termination_ordered' | 'esim.top_up_ordered' | 'esim.bundle_canceled' | 'esim.simulated' | 'esim.install_profile_viewed' | 'esim.erasure_requested' | 'batch.created' | 'batch.canceled' | 'esim.install_link_created' | 'install_link.revoked' | 'install_link.viewed' | 'branding.updated' | 'batch.install_profiles_viewed' | 'usage.reported' | 'account.created' | 'account.updated' | 'account.closed' | 'account.erasure_requested' | 'account.frozen' | 'account.move_started' | 'account.move_undone' | 'account.moved' | 'account.viewed' | 'execution.canceled' | 'execution.retried' | 'execution.resolved' | 'failure_group.retried' | 'core.resync_started' | 'product.updated' | 'product.deactivated' | 'secret.shown_again' | 'session.link_created' | 'session.started' | 'session.ended' | 'session.refused' | 'dashboard.write' | 'secrets.reseal_started';
  target: {
    type: 'request' | 'api_key' | 'webhook_endpoint' | 'event' | 'event_consumer' | 'delivery' | 'esim' | 'install_link' | 'account' | 'batch' | 'execution' | 'failure_group' | 'product' | 'session' | 'deployment';
    /** The target’s id: an ICCID for an eSIM. */
    id: string;
  };
  /** What was changed, by field: `from` and `to` for an update, otherwise the details of the action. It contains no secrets: URLs are shown without query and credentials, and for metadata only the names of the changed entries. */
  changes?: Record<string, unknown>;
  /** The request that did it. Null for the server’s command line. */
  request_id: string | null;
  /** The client’s address. Null for the server’s command line. */
  ip: string | null;
  /** How it reached the server: `api`, `dashboard`, `agent` (a tool call to `/mcp`) or `command_line`. Null for what the operator did, and for entries from before this was recorded. */
  via: 'api' | 'dashboard' | 'agent' | 'command_line' | null;
  /** When it happened. Unix time in seconds. */
  created: number;
};

/** Orders of eSIMs that were accepted together. */
export type Batch = {
  id: string;
  object: 'batch';
  /** Product of all its orders; null if they differ. */
  product_id: string | null;
  /** Number of orders. Always `succeeded` + `failed` + `open`. */
  total: number;
  /** Orders whose eSIM is ready. */
  succeeded: number;
  /** Orders that failed permanently or were canceled. One that the operator has started again counts as the new execution does. */
  failed: number;
  /** How many of the failed ones were canceled. */
  canceled: number;
  /** Orders that are queued or running. */
  open: number;
  /** When the batch was accepted. Unix time in seconds. */
  created: number;
  /** When all orders had ended; null until then. A `batch.finished` event tells it. Unix time in seconds. */
  finished_at: number | null;
};

/** Data to install the eSIMs of a batch. Treat it as a secret. */
export type BatchInstallProfiles = {
  object: 'batch_install_profiles';
  batch_id: string;
  /** Orders that have not ended: their eSIMs are not in `data` yet. */
  open: number;
  /** One entry per eSIM that can be installed, in the order of the batch. */
  data: Array<{
    /** ICCID of the eSIM: 18 to 20 digits. */
    iccid: string;
    execution_id: string;
    product_id: string;
    /** Your own name for the order, as you sent it; null if you sent none. */
    reference: string | null;
    /** LPA string that the QR code encodes. */
    lpa: string;
    /** The LPA string without `LPA:`, for manual entry. */
    activation_code: string;
    smdp_address: string;
    matching_id: string;
    /** Whether the device asks for a confirmation code. */
    confirmation_code_required: boolean;
    /** Installs without a QR code on iOS 17.4 and later. */
    ios_install_url: string;
    /** Installs without a QR code where Android supports it. */
    android_install_url: string;
  }>;
};

/** What the pages of the account’s install links show of it. */
export type Branding = {
  object: 'branding';
  /** The name in the page’s header. Null: the account’s name. */
  name: string | null;
  /** Color of the button, such as `#1d4ed8`, which is the default (null). */
  color: string | null;
  /** Color of the text on the button: black or white, whichever can be read better. Its contrast is at least 4.5. */
  text_color: string;
  /** A PNG picture as a data URI: up to 16 kB and 1000 pixels a side, not interlaced. Everything in it but the picture is removed. Null for none. */
  logo: string | null;
  /** Where the page sends people who need help: a `mailto:`, `https:` or `tel:` URL. Null for none. */
  support_url: string | null;
  /** Where people buy more data: an `https` URL. The page shows it once they are online. Null for none. */
  top_up_url: string | null;
  /** The APN that the page shows. Null if phones set it by themselves. */
  apn: string | null;
  /** A sentence of yours below the heading, by language: up to 200 characters each. A reader sees the one in the page’s language. */
  messages: {
    en?: string;
    de?: string;
    fr?: string;
    es?: string;
    it?: string;
    pt?: string;
    tr?: string;
    zh?: string;
    ja?: string;
    ar?: string;
  };
};

/** A data allowance on an eSIM, and how much of it is used. */
export type Bundle = {
  id: string;
  object: 'bundle';
  /** ICCID of the eSIM: 18 to 20 digits. */
  iccid: string;
  /** Product that was bought. */
  product_id: string;
  /** Your own name for the order, as you sent it; null if you sent none. */
  reference: string | null;
  /** `queued` until data is used, or the eSIM attaches, in one of its countries while no active bundle covers that. Several bundles can be active. */
  status: 'queued' | 'active' | 'depleted' | 'expired' | 'canceled';
  /** Countries where usage counts on the bundle, as ISO 3166-1 alpha-2 codes: those of the product when it was bought. */
  countries: string[];
  /** Price of the product when it was ordered; null if it was ordered before prices were stored. */
  price: {
    /** Price in the currency’s minor unit, such as cents. */
    amount: number;
    /** ISO 4217 code in lowercase. */
    currency: string;
  } | null;
  /** Data allowance in bytes; null means unlimited. */
  data_bytes: number | null;
  /** Bytes used, never more than `data_bytes`. Each usage record counts once; what no bundle covers is in `uncovered_bytes` of the eSIM. */
  used_bytes: number;
  /** Usage percentages at which a `bundle.usage_threshold` event is sent. */
  thresholds: number[];
  /** What the network does once the data is used up: that of the product when it was bought. */
  after_depletion: {
    /** `bar`: no more data. `throttle`: limited to `kbps` until the bundle’s validity ends. `none`: full service until then. */
    action: 'bar' | 'throttle' | 'none';
    /** Speed limit in kbit/s; only for `throttle`. */
    kbps: number | null;
  };
  /** When the bundle became active. Unix time in seconds. */
  activated_at: number | null;
  /** When the bundle expires, unless it is used up before. Unix time in seconds. */
  expires_at: number | null;
  /** Time of the newest usage record in `used_bytes`. Unix time in seconds. */
  as_of: number | null;
};

/** A product as the operator sees it. */
export type CatalogProduct = {
  /** Whether the product can be ordered. */
  active: boolean;
  /** Whether accounts find the product in `GET /v1/products`. An unlisted one can be ordered by its id. */
  listed: boolean;
  /** The SM-DP+’s name for the product’s profiles. Accounts do not see it. */
  profile_type: string | null;
  /** What the network does with an eSIM whose data is used up, if it has no other bundle there. */
  after_depletion: {
    /** `bar`: no more data. `throttle`: limited to `kbps` until the bundle’s validity ends. `none`: full service until then. */
    action: 'bar' | 'throttle' | 'none';
    /** Speed limit in kbit/s; only for `throttle`. */
    kbps: number | null;
  };
  id: string;
  object: 'product';
  name: string;
  /** Countries where the plan works, as ISO 3166-1 alpha-2 codes. */
  countries: string[];
  /** Data allowance in bytes; null means unlimited. */
  data_bytes: number | null;
  /** Days the data is valid, counted from the activation of its bundle. */
  validity_days: number;
  price: {
    /** Price in the currency’s minor unit, such as cents. */
    amount: number;
    /** ISO 4217 code in lowercase. */
    currency: string;
  };
  speeds: Array<'3G' | '4G' | '5G'>;
  /** When the product was added to the catalog. Unix time in seconds. */
  created: number;
};

/** The state of every eSIM is sent to the core again. */
export type CoreResync = {
  object: 'core_resync';
  /** When it was requested. Unix time in seconds. */
  created: number;
  /** How many eSIMs have been queued so far. */
  esims: number;
  /** When every eSIM was queued. Unix time in seconds. */
  finished_at: number | null;
};

/** One event’s delivery to one endpoint. A replay creates a new one. */
export type Delivery = {
  id: string;
  object: 'delivery';
  event_id: string;
  webhook_endpoint_id: string;
  status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  /** Why it was queued: the event happened, or someone requested a replay, a recovery or a retry. */
  origin: 'event' | 'replay' | 'recovery' | 'retry';
  attempt_count: number;
  /** When the next attempt is due; null if the delivery has ended, and while it waits for its turn (see `blocked_by`). Unix time in seconds. */
  next_attempt_at: number | null;
  /** The delivery that must end first, on an endpoint with `ordering: "esim"`. Null if it waits for no delivery, or only for a recovery or its event's position. */
  blocked_by: string | null;
  /** All attempts, oldest first. */
  attempts: Array<{
    /** When the attempt started. Unix time in seconds. */
    at: number;
    duration_ms: number;
    /** HTTP status; null when there was no response. */
    status_code: number | null;
    /** Why there was no response, in words; null if there was one. */
    error: string | null;
    /** First 1 kB of the response; null for private addresses. */
    response: string | null;
  }>;
  /** When the delivery was queued. Unix time in seconds. */
  created: number;
};

/** One attempt of a delivery: a request to the endpoint and its result. */
export type DeliveryAttempt = {
  object: 'delivery_attempt';
  delivery_id: string;
  event_id: string;
  webhook_endpoint_id: string;
  /** Number of the attempt within its delivery, from 1. */
  number: number;
  /** `succeeded`: the response was a 2xx. */
  outcome: 'succeeded' | 'failed';
  /** When the attempt started. Unix time in seconds. */
  at: number;
  duration_ms: number;
  /** HTTP status; null when there was no response. */
  status_code: number | null;
  /** Why there was no response, in words; null if there was one. */
  error: string | null;
  /** First 1 kB of the response; null for private addresses. */
  response: string | null;
};

/** What would be accepted. Nothing was written. */
export type DryRun = {
  object: 'dry_run';
  /** Type of the executions that would be accepted. */
  type: 'esim.provision' | 'bundle.add';
  /** ICCID of the eSIM to top up; null for orders of eSIMs. */
  iccid: string | null;
  /** How many executions would be accepted. */
  total: number;
  /** The same by product. */
  products: Array<{
    product_id: string;
    /** How many executions order this product. */
    quantity: number;
    /** Price of one. */
    price: {
      /** Price in the currency’s minor unit, such as cents. */
      amount: number;
      /** ISO 4217 code in lowercase. */
      currency: string;
    };
  }>;
  /** False: the orders would be accepted, but some of them would fail with `out_of_stock`, because the operator’s ICCIDs are used up. Null if only the network knows. */
  in_stock: boolean | null;
};

/** How deliveries to a webhook endpoint of an account are doing. */
export type EndpointHealth = {
  id: string;
  object: 'endpoint_health';
  /** The account it belongs to. */
  account_id: string;
  /** URL that receives deliveries. */
  url: string;
  status: 'enabled' | 'disabled';
  /** Why Simplane disabled the endpoint, and what to fix. */
  disabled_reason?: string;
  /** When the endpoint was disabled. Unix time in seconds. */
  disabled_at: number | null;
  /** When the first attempt failed since the last success, or since the endpoint was enabled; null if none has failed. Unix time in seconds. */
  failing_since: number | null;
  /** Failed attempts since `failing_since`. */
  failure_count: number;
  /** When a delivery last succeeded. May be up to a minute old while deliveries keep succeeding. Unix time in seconds. */
  last_success_at: number | null;
  /** Why the last attempt failed; null when the endpoint is not failing. */
  last_error: string | null;
  backlog: {
    /** Deliveries that have not ended. At most 1,000 are counted. */
    count: number;
    /** Age of the oldest of them; null if there is none. */
    age_seconds: number | null;
  };
  /** When the endpoint was created. Unix time in seconds. */
  created: number;
};

/** An eSIM profile. */
export type Esim = {
  /** ICCID of the eSIM: 18 to 20 digits. */
  iccid: string;
  object: 'esim';
  /** Lifecycle status. Authoritative: `profile.state` never changes it. */
  status: 'provisioning' | 'provisioned' | 'active' | 'suspended' | 'terminated' | 'failed';
  /** State of the profile on a device, as last observed by the network. `error` says why if `state` is `error`. */
  profile: {
    state: 'released' | 'downloaded' | 'installed' | 'enabled' | 'disabled' | 'deleted' | 'error' | 'unknown';
    /** When the network observed this state. Unix time in seconds. */
    updated_at: number | null;
    /** Why the last download or installation failed. */
    error?: {
      /** Reason, from a closed list. */
      code: 'activation_code_refused' | 'confirmation_code_refused' | 'device_memory_full' | 'device_not_eligible' | 'device_not_trusted' | 'device_refused' | 'download_expired' | 'profile_not_available' | 'other';
      /** The cause and what to do about it. */
      message: string;
      /** The network’s own codes (SGP.22): `subject_code`, `reason_code`, `notification_point_id`. */
      upstream: Record<string, string>;
    };
  };
  product_id: string;
  /** EID of the device, if known. */
  eid: string | null;
  /** Your own name for the order, as you sent it; null if you sent none. */
  reference: string | null;
  description: string | null;
  /** Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500. */
  metadata: Record<string, string>;
  /** Country where the eSIM was last seen, as an ISO 3166-1 alpha-2 code; null if the network has not reported one. */
  country: string | null;
  /** Bytes used that no bundle covers: in a country without one, or when all were used up. Not part of any bundle’s `used_bytes`. */
  uncovered_bytes: number;
  /** What the eSIM may use now, and whether the operator’s core knows it. */
  service: EsimService;
  /** When the eSIM was ordered. Unix time in seconds. */
  created: number;
  /** When the eSIM became ready to install. Unix time in seconds. */
  provisioned_at: number | null;
};

/** What the eSIM may use now, and whether the operator’s core knows it. */
export type EsimService = {
  /** What the network should let the eSIM do with data. */
  state: 'full' | 'throttled' | 'barred';
  /** Why it is not `full`: no bundle yet (`not_active`), the bundle used up or expired, no bundle for the country where the eSIM is (`not_covered`), or the eSIM suspended or terminated. Null if it is. */
  reason: 'not_active' | 'depleted' | 'expired' | 'not_covered' | 'suspended' | 'terminated' | null;
  /** Speed limit in kbit/s if `throttled`, else null. */
  kbps: number | null;
  /** Id of the bundle that the state follows from; null if none. */
  bundle_id: string | null;
  /** When the state ends by itself, as a bundle’s validity does; null if no such time is known. Unix time in seconds. */
  until: number | null;
  /** Rises with every change. 0 before the first: the eSIM is being provisioned, or failed. */
  version: number;
  /** When this version was written. Unix time in seconds. */
  since: number | null;
  /** The newest version that the operator’s core has confirmed; null if none. In a sandbox without a core, always the newest. */
  applied_version: number | null;
  /** When the core confirmed it. Unix time in seconds. */
  applied_at: number | null;
};

/** Data that an eSIM used over time, as the network reported it. */
export type EsimUsage = {
  object: 'esim_usage';
  /** ICCID of the eSIM: 18 to 20 digits. */
  iccid: string;
  interval: 'hour' | 'day';
  /** Start of the first interval. Unix time in seconds. */
  from: number;
  /** End of the last interval. Unix time in seconds. */
  until: number;
  /** Bytes used in all intervals. */
  used_bytes: number;
  /** Every interval, oldest first, including those without usage. */
  points: Array<{
    /** Start of the interval, in UTC. Unix time in seconds. */
    start: number;
    /** Bytes used, upload and download combined. */
    used_bytes: number;
  }>;
};

/** Something that happened. Webhooks deliver it exactly as it is stored in the event log. */
export type Event = {
  id: string;
  type: string;
  object: 'event';
  /** When the event happened. Unix time in seconds. */
  created: number;
  /** Correlation ids and little else. Fetch the current state from the API. */
  data: Record<string, unknown>;
};

/** A named place in the event feed, stored for one of your programs. */
export type EventConsumer = {
  /** Name that you chose. */
  name: string;
  object: 'event_consumer';
  /** The event types it reads; null for all. */
  type: string[] | null;
  /** Its place: everything up to here is acknowledged. */
  cursor: string;
  /** How many events, of all types, come after its place. */
  behind: number;
  /** When the first event after its place was created; null if there is none, or if it has been removed. Unix time in seconds. */
  oldest_unacknowledged_at: number | null;
  /** When the consumer was created. Unix time in seconds. */
  created: number;
};

/** A type of event, and what its `data` contains. */
export type EventType = {
  type: string;
  object: 'event_type';
  description: string;
  /** Fields that `data` can contain. */
  data: string[];
};

/** An asynchronous operation and its status. */
export type Execution = {
  id: string;
  object: 'execution';
  /** Same as `id`, under the name that event data uses. */
  execution_id: string;
  /** Requested operation. */
  type: 'esim.provision' | 'esim.suspend' | 'esim.resume' | 'esim.terminate' | 'bundle.add';
  status: 'queued' | 'running' | 'succeeded' | 'failed';
  /** Requested product. */
  product_id: string | null;
  /** ICCID of the eSIM; null until it is known, and if the order failed without an eSIM. */
  iccid: string | null;
  /** Your own name for the order, as you sent it; null if you sent none. */
  reference: string | null;
  /** The batch that the order belongs to. Absent if it was ordered on its own. */
  batch_id?: string;
  /** Why the execution failed. Present if `status` is `failed`. */
  error?: {
    /** Reason, from a closed list. */
    code: 'declined' | 'out_of_stock' | 'network_unavailable' | 'outcome_unknown' | 'state_conflict' | 'product_missing' | 'canceled' | 'superseded' | 'internal';
    /** The cause and what to do about it. */
    message: string;
    /** Whether the same request can succeed if you send it again. */
    retryable: boolean;
    /** Error details from the network. */
    upstream?: Record<string, string>;
  };
  /** Price of the product when it was ordered. Only of `esim.provision` and `bundle.add`; the response to the order of an eSIM does not have it yet. */
  price?: {
    /** Price in the currency’s minor unit, such as cents. */
    amount: number;
    /** ISO 4217 code in lowercase. */
    currency: string;
  };
  /** Number of attempts made with the network. */
  attempts: number;
  /** When the request was accepted. Unix time in seconds. */
  created: number;
  /** When the execution succeeded or failed. Unix time in seconds. */
  finished_at: number | null;
  /** Why the execution is waiting, and what to do about it; null while an attempt runs and once it has ended. */
  waiting_for: string | null;
  /** Earliest time of the next attempt; null if the execution is not waiting. Unix time in seconds. */
  next_attempt_at: number | null;
  /** The failed execution that this one repeats or continues, by decision of the operator. */
  retry_of?: string;
  /** The execution that the operator started in place of this failed one. */
  retried_by?: string;
};

/** A range of ICCIDs that workers assign to orders, in the order of the setting. */
export type IccidRange = {
  object: 'iccid_range';
  /** The first ICCID of the range. */
  first: string;
  /** The last ICCID of the range. */
  last: string;
  /** How many ICCIDs the range has. */
  size: number;
  /** ICCIDs that orders have used up, or use at the moment. */
  taken: number;
  /** ICCIDs for further orders, including those that were given back. */
  free: number;
  /** The part of `free` that was given back by orders that failed. Used before new ones. */
  returned: number;
  /** ICCIDs that the SM-DP+ rejected, counted neither as taken nor as free. Used only if nothing else is left. */
  suspect: number;
  /** New ICCIDs taken in the last seven days, or since counting began if that is more recent; null in the first hour of counting. */
  taken_last_week: number | null;
  /** Days until this range and those before it are used up, at the rate of the last week. For the last range: days until no ICCID is left. Null if no new ICCID was taken. */
  days_left: number | null;
};

/** Failed and waiting executions with the same cause. */
export type FailureGroup = {
  /** Derived from `code`, `network` and `upstream_code`. */
  id: string;
  object: 'failure_group';
  /** As in `error.code` of its executions. */
  code: 'declined' | 'out_of_stock' | 'network_unavailable' | 'outcome_unknown' | 'state_conflict' | 'product_missing' | 'canceled' | 'superseded' | 'internal';
  /** The host that was called; null if unknown. */
  network: string | null;
  /** The network’s own code, such as `8.2.5/3.7` or `HTTP 503`; null if there is none. */
  upstream_code: string | null;
  /** The cause of the newest failure, with hosts and settings. */
  message: string;
  /** What the operator can do. */
  remedy: string;
  /** Failed executions of the last 7 days that nobody has retried or resolved; at most 10000 are counted. */
  failed: number;
  /** Executions that wait for their next attempt after this failure; at most 10000 are counted. */
  waiting: number;
  /** When the oldest was accepted. Unix time in seconds. */
  oldest: number;
  /** When the newest was accepted. Unix time in seconds. */
  newest: number;
  /** The newest executions, up to three. */
  executions: string[];
  /** The last retry of the group; null if there was none. */
  retry: {
    /** `testing`: the first execution is being retried. `running`: it succeeded, and the others are being retried. `succeeded`: all that could be retried were retried. `stopped`: the first failed again, and the others were not retried. */
    status: 'testing' | 'running' | 'succeeded' | 'stopped';
    /** The execution that is retried first. */
    execution_id: string;
    /** Failed executions retried so far, including the first. */
    retried: number;
    /** When the retry was requested. Unix time in seconds. */
    created: number;
    /** When it ended. Unix time in seconds. */
    finished_at: number | null;
  } | null;
};

/** The account and API key that made the request. */
export type Identity = {
  object: 'identity';
  /** Null for an operator’s key, which belongs to no account. */
  account: {
    id: string;
    name: string;
  } | null;
  api_key: {
    id: string;
    name: string;
    scopes: Array<'read' | 'write' | 'network' | 'admin' | 'install' | 'operator' | 'operator_write'>;
    /** Last four characters of the key. */
    last4: string;
    /** When the key was created. Unix time in seconds. */
    created: number;
  };
  /** Whether this deployment is a sandbox or live. */
  mode: 'sandbox' | 'live';
  /** Whether real networks and real money are involved. */
  livemode: boolean;
  /** API version of this response. */
  api_version: string;
};

/** A page for the end user, which installs the eSIM on the phone it is opened on. */
export type InstallLink = {
  id: string;
  object: 'install_link';
  /** ICCID of the eSIM: 18 to 20 digits. */
  iccid: string;
  /** The link to send to the end user. Whoever has it can install the eSIM. Only its hash is stored, so it is returned by the creation only. */
  url?: string;
  /** QR code of the link, for print. Returned by the creation only. */
  qr?: {
    /** QR code as a data URI. */
    svg: string;
    /** QR code as a data URI. */
    png: string;
  };
  /** Language of the page. Null: that of the reader’s browser, or English. */
  language: 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'tr' | 'zh' | 'ja' | 'ar' | null;
  /** Where the page leads once the eSIM is online. */
  return_url: string | null;
  /** When the link was created. Unix time in seconds. */
  created: number;
  /** When the link ends. Unix time in seconds. */
  expires_at: number;
  /** When someone first opened it. Previews by chat and mail programs do not count. Unix time in seconds. */
  opened_at: number | null;
  /** When the eSIM was installed on a device, while the link existed. Unix time in seconds. */
  installed_at: number | null;
};

/** Data to install the eSIM on a device. Treat it as a secret. */
export type InstallProfile = {
  object: 'install_profile';
  /** ICCID of the eSIM: 18 to 20 digits. */
  iccid: string;
  /** LPA string that the QR code encodes. */
  lpa: string;
  /** The LPA string without `LPA:`, for manual entry. */
  activation_code: string;
  smdp_address: string;
  matching_id: string;
  /** Whether the device asks for a confirmation code. */
  confirmation_code_required: boolean;
  qr: {
    /** QR code as a data URI. */
    svg: string;
    /** QR code as a data URI. */
    png: string;
  };
  /** Installs without a QR code on iOS 17.4 and later. */
  ios_install_url: string;
  /** Installs without a QR code where Android supports it. */
  android_install_url: string;
  /** Same as `profile.state` of the eSIM. */
  profile_state: 'released' | 'downloaded' | 'installed' | 'enabled' | 'disabled' | 'deleted' | 'error' | 'unknown';
  /** Why the last download or installation failed. */
  profile_error?: {
    /** Reason, from a closed list. */
    code: 'activation_code_refused' | 'confirmation_code_refused' | 'device_memory_full' | 'device_not_eligible' | 'device_not_trusted' | 'device_refused' | 'download_expired' | 'profile_not_available' | 'other';
    /** The cause and what to do about it. */
    message: string;
    /** The network’s own codes (SGP.22): `subject_code`, `reason_code`, `notification_point_id`. */
    upstream: Record<string, string>;
  };
};

/** A system that workers call, as they see it. */
export type Network = {
  object: 'network';
  /** An SM-DP+, the core network that gets commands, or the sandbox’s mock. */
  kind: 'smdp' | 'core' | 'mock';
  /** Host and port; null for the mock. */
  host: string | null;
  /** Whether every process that calls it reached it last time; null if none has tried yet. */
  reachable: boolean | null;
  /** Ids of the processes that did not reach it. */
  unreachable_from: string[];
  /** Whether a process makes no calls for now, because a gateway reported several times that the system is down. */
  paused: boolean;
  /** How long the last response or connection took, on the slowest process; null if there was none. */
  latency_ms: number | null;
  /** When it was last called or connected to. Unix time in seconds. */
  checked_at: number | null;
  /** The last error of any process; null if there was none since the processes started. */
  last_error: {
    /** What went wrong, and what to check. */
    message: string;
    /** When it happened. Unix time in seconds. */
    at: number;
  } | null;
  /** When the first of its certificates expires. Unix time in seconds. */
  certificate_ends_at: number | null;
  /** The certificates of the connection, and for an SM-DP+ of the port for its notifications. */
  certificates: Array<{
    /** `peer` for the system’s own certificate, or the setting that names our file. */
    name: string;
    /** When the certificate expires. Unix time in seconds. */
    ends_at: number;
  }>;
};

/** How the whole deployment is doing. */
export type OperatorOverview = {
  object: 'operator_overview';
  /** When this was read. Unix time in seconds. */
  as_of: number;
  /** What the running processes did. A process counts from its start. */
  rates: {
    /** HTTP requests answered. */
    requests: {
      /** In the last minute. */
      last_minute: number;
      /** In the last hour. */
      last_hour: number;
    };
    /** Executions that succeeded. */
    executions_succeeded: {
      /** In the last minute. */
      last_minute: number;
      /** In the last hour. */
      last_hour: number;
    };
    /** Executions that failed. */
    executions_failed: {
      /** In the last minute. */
      last_minute: number;
      /** In the last hour. */
      last_hour: number;
    };
    /** Attempts to deliver an event that succeeded. */
    attempts_succeeded: {
      /** In the last minute. */
      last_minute: number;
      /** In the last hour. */
      last_hour: number;
    };
    /** Attempts to deliver an event that failed. */
    attempts_failed: {
      /** In the last minute. */
      last_minute: number;
      /** In the last hour. */
      last_hour: number;
    };
  };
  backlogs: {
    /** Executions that have not ended. */
    executions: {
      /** How many there are. At most 10,000 are counted. */
      count: number;
      /** How long the oldest due execution has waited for a worker; 0 if none is due. */
      oldest_due_seconds: number;
    };
    /** Deliveries that have not ended, including those that wait for their next attempt. */
    deliveries: {
      /** How many there are. At most 10,000 are counted. */
      count: number;
      /** How long the oldest due delivery has waited; 0 if none is due. Failing endpoints are not included; `endpoint_health` shows them. */
      oldest_due_seconds: number;
    };
  };
  /** Running processes whose clock is more than 2 seconds off PostgreSQL’s; empty if there is none. */
  clocks_off: Array<{
    process_id: string;
    /** Name of its machine or container. */
    host: string;
    /** With several cells: the one of the process; null for the cell without a label. */
    cell?: string | null;
    /** How far the clock of the machine is ahead of PostgreSQL’s, negative if behind. Beyond 30 seconds, the process does no background work. */
    clock_skew_ms: number;
  }>;
  /** Start of the last day, a full hour. Funnel, failures and hours begin here. Unix time in seconds. */
  from: number;
  /** How many of the orders accepted in the window have reached each stage, at any time until `as_of`. An order that reached a stage counts for all stages before it. */
  funnel: Array<{
    stage: 'accepted' | 'provisioned' | 'downloaded' | 'installed' | 'active';
    /** Orders that reached the stage. */
    count: number;
    /** Median time since the previous stage, accurate to within 10 %; null for `accepted`, and if it is unknown. */
    median_ms: number | null;
    /** 95th percentile of the same time. */
    p95_ms: number | null;
  }>;
  /** Orders of the last day that failed. */
  failed_count: number;
  /** Failures by stage and code, the most frequent first. */
  failures: Array<{
    /** The stage that was not reached. */
    stage: 'provisioned' | 'downloaded' | 'installed' | 'active';
    /** For `provisioned`: `error.code` of the execution. For `downloaded` and `installed`: `profile.error.code` of the eSIM. */
    code: string;
    /** How often it happened. */
    count: number;
  }>;
  /** Every hour of the window, oldest first, by the time the orders were accepted. */
  hours: Array<{
    /** Start of the hour. Unix time in seconds. */
    start: number;
    /** Orders accepted in this hour. */
    accepted: number;
    /** Of these, provisioned. */
    provisioned: number;
    /** Of these, failed. */
    failed: number;
    /** Of these, downloaded. */
    downloaded: number;
    /** Of these, installed. */
    installed: number;
    /** Of these, active. */
    active: number;
  }>;
  /** The cells that were asked, this one first. What one that has not answered has is missing here. Absent if this deployment knows no other cell (`SIMPLANE_CELLS`). */
  cells?: Array<{
    /** Label of the cell; null for the cell without a label. */
    cell: string | null;
    /** Whether the answer includes what this cell has. */
    answered: boolean;
    /** Why not. `timeout`: no answer within 3 seconds. `unreachable`: no connection, or it was cut. `key_refused`: the cell does not accept the key in `SIMPLANE_CELLS`. `failed`: it answered with an error. `invalid_answer`: it answered with something else. */
    cause?: 'timeout' | 'unreachable' | 'key_refused' | 'failed' | 'invalid_answer';
  }>;
};

/** A running process of this deployment. One that is gone leaves the list within 30 seconds. */
export type Process = {
  id: string;
  object: 'process';
  /** Serves the API (`api`), does background work (`worker`), or both (`all`). */
  role: 'all' | 'api' | 'worker';
  /** Version of the server. */
  version: string;
  /** Name of the machine or container. */
  host: string;
  /** Process id on that host. */
  pid: number;
  /** When the process started. Unix time in seconds. */
  since: number;
  /** When the process last reported. It reports every 5 seconds. Unix time in seconds. */
  last_seen_at: number;
  /** How far the clock of its machine was ahead of PostgreSQL’s, negative if behind. Beyond 30 seconds, the process does no background work. Null if its version does not report it. */
  clock_skew_ms: number | null;
};

/** A request to the API and how it ended, without its body. */
export type RequestLogEntry = {
  /** The `Request-Id` of the response. */
  id: string;
  /** Kind of this object. */
  object: 'request';
  /** HTTP method. */
  method: string;
  /** Path without the query. A part that looks like neither a word nor an id is replaced by `*`. */
  path: string;
  /** The operation’s id in the reference. Null for `/mcp`. */
  operation: string | null;
  /** How it reached the server: `api`, `dashboard` or `agent` (`/mcp` and its tool calls). */
  via: 'api' | 'dashboard' | 'agent';
  /** Status of the response; 499 if the client closed the connection before it. */
  status: number;
  /** The error in the response. Absent if there was none. */
  error?: {
    code: 'parameter_missing' | 'parameter_invalid' | 'parameter_unknown' | 'json_invalid' | 'cursor_invalid' | 'query_too_broad' | 'cursor_expired' | 'cursor_behind' | 'consumer_limit_reached' | 'idempotency_key_invalid' | 'idempotency_key_reused' | 'api_version_unknown' | 'url_not_allowed' | 'request_malformed' | 'api_key_missing' | 'api_key_invalid' | 'api_key_expired' | 'api_key_wrong_mode' | 'wrong_cell' | 'session_expired' | 'csrf_token_invalid' | 'host_not_allowed' | 'api_key_address_refused' | 'api_key_settings_refused' | 'scope_missing' | 'account_suspended' | 'sandbox_only' | 'origin_not_allowed' | 'resource_missing' | 'route_missing' | 'method_not_allowed' | 'request_timeout' | 'idempotency_in_progress' | 'esim_not_ready' | 'state_conflict' | 'endpoint_limit_reached' | 'install_link_limit_reached' | 'api_key_limit_reached' | 'core_not_connected' | 'body_too_large' | 'content_type_unsupported' | 'rate_limited' | 'execution_limit_reached' | 'batch_limit_reached' | 'stream_limit_reached' | 'headers_too_large' | 'internal' | 'unavailable';
    /** As in the response, except that quoted values of the request may be `…`. */
    message: string;
    param?: string;
    /** What to do about it. */
    remedy: string;
  };
  /** How long it took, in milliseconds. */
  duration_ms: number;
  /** The key that made it. */
  api_key: {
    id: string;
    name: string;
    last4: string;
  };
  /** How its `Idempotency-Key` was used: `fresh` is the first request with the key, `replayed` got the stored response, `refused` got an error about the key. Null without a key. */
  idempotency: 'fresh' | 'replayed' | 'refused' | null;
  /** Ids of what the request created, up to 20. */
  created_ids: string[];
  /** The client’s address. */
  ip: string | null;
  /** When the request arrived. Unix time in seconds. */
  created: number;
};

/** An entry of the audit log with its account, and with the operator’s keys and addresses. */
export type OperatorAuditEntry = {
  id: string;
  object: 'audit_entry';
  /** Who did it. An account sees its operator without id and address. */
  actor: {
    type: 'api_key' | 'operator' | 'command_line' | 'anonymous';
    /** The key’s id. */
    id: string | null;
    /** The key’s name at that time. */
    name: string | null;
  };
  /** What happened to the target. */
  action: 'api_key.created' | 'api_key.updated' | 'api_key.rolled' | 'api_key.revoked' | 'webhook_endpoint.created' | 'webhook_endpoint.updated' | 'webhook_endpoint.enabled' | 'webhook_endpoint.deleted' | 'webhook_endpoint.secret_rotated' | 'webhook_endpoint.recovery_started' | 'webhook_endpoint.probed' | 'event.test_sent' | 'event.replayed' | 'delivery.retried' | 'delivery.skipped' | 'event_consumer.created' | 'event_consumer.acknowledged' | 'event_consumer.moved' | 'event_consumer.deleted' | 'esim.ordered' | 'esim.updated' | 'esim.suspension_ordered' | 'esim.resumption_ordered' | 'esim.termination_ordered' | 'esim.top_up_ordered' | 'esim.bundle_canceled' | 'esim.simulated' | 'esim.install_profile_viewed' | 'esim.erasure_requested' | 'batch.created' | 'batch.canceled' | 'esim.install_link_created' | 'install_link.revoked' | 'install_link.viewed' | 'branding.updated' | 'batch.install_profiles_viewed' | 'usage.reported' | 'account.created' | 'account.updated' | 'account.closed' | 'account.erasure_requested' | 'account.frozen' | 'account.move_started' | 'account.move_undone' | 'account.moved' | 'account.viewed' | 'execution.canceled' | 'execution.retried' | 'execution.resolved' | 'failure_group.retried' | 'core.resync_started' | 'product.updated' | 'product.deactivated' | 'secret.shown_again' | 'session.link_created' | 'session.started' | 'session.ended' | 'session.refused' | 'dashboard.write' | 'secrets.reseal_started';
  target: {
    type: 'request' | 'api_key' | 'webhook_endpoint' | 'event' | 'event_consumer' | 'delivery' | 'esim' | 'install_link' | 'account' | 'batch' | 'execution' | 'failure_group' | 'product' | 'session' | 'deployment';
    /** The target’s id: an ICCID for an eSIM. */
    id: string;
  };
  /** What was changed, by field: `from` and `to` for an update, otherwise the details of the action. It contains no secrets: URLs are shown without query and credentials, and for metadata only the names of the changed entries. */
  changes?: Record<string, unknown>;
  /** The request that did it. Null for the server’s command line. */
  request_id: string | null;
  /** The client’s address. Null for the server’s command line. */
  ip: string | null;
  /** How it reached the server: `api`, `dashboard`, `agent` (a tool call to `/mcp`) or `command_line`. Null for what the operator did, and for entries from before this was recorded. */
  via: 'api' | 'dashboard' | 'agent' | 'command_line' | null;
  /** When it happened. Unix time in seconds. */
  created: number;
  /** The account it concerns; null if it concerns the deployment. */
  account_id: string | null;
};

/** How the account’s orders are doing. */
export type Overview = {
  object: 'overview';
  /** Start of the window, a full hour. Unix time in seconds. */
  from: number;
  /** End of the window, a full hour. Unix time in seconds. */
  until: number;
  /** Everything that happened up to here is counted. Unix time in seconds. */
  as_of: number;
  /** How many of the orders accepted in the window have reached each stage, at any time until `as_of`. An order that reached a stage counts for all stages before it. */
  funnel: Array<{
    stage: 'accepted' | 'provisioned' | 'downloaded' | 'installed' | 'active';
    /** Orders that reached the stage. */
    count: number;
    /** Median time since the previous stage, accurate to within 10 %; null for `accepted`, and if it is unknown. */
    median_ms: number | null;
    /** 95th percentile of the same time. */
    p95_ms: number | null;
  }>;
  /** Orders that have not ended. At most 10,000 are counted. */
  open_count: number;
  /** Orders that failed. */
  failed_count: number;
  /** Failures by stage and code, the most frequent first. */
  failures: Array<{
    /** The stage that was not reached. */
    stage: 'provisioned' | 'downloaded' | 'installed' | 'active';
    /** For `provisioned`: `error.code` of the execution. For `downloaded` and `installed`: `profile.error.code` of the eSIM. */
    code: string;
    /** How often it happened. */
    count: number;
  }>;
  /** Every hour of the window, oldest first, by the time the orders were accepted. */
  hours: Array<{
    /** Start of the hour. Unix time in seconds. */
    start: number;
    /** Orders accepted in this hour. */
    accepted: number;
    /** Of these, provisioned. */
    provisioned: number;
    /** Of these, failed. */
    failed: number;
    /** Of these, downloaded. */
    downloaded: number;
    /** Of these, installed. */
    installed: number;
    /** Of these, active. */
    active: number;
  }>;
};

/** An execution of any account as the operator sees it. */
export type OperatorExecution = {
  id: string;
  object: 'execution';
  /** Same as `id`, under the name that event data uses. */
  execution_id: string;
  /** Requested operation. */
  type: 'esim.provision' | 'esim.suspend' | 'esim.resume' | 'esim.terminate' | 'bundle.add';
  status: 'queued' | 'running' | 'succeeded' | 'failed';
  /** Requested product. */
  product_id: string | null;
  /** ICCID of the eSIM; null until it is known, and if the order failed without an eSIM. */
  iccid: string | null;
  /** Your own name for the order, as you sent it; null if you sent none. */
  reference: string | null;
  /** The batch that the order belongs to. Absent if it was ordered on its own. */
  batch_id?: string;
  /** Why the execution failed. Present if `status` is `failed`. */
  error?: {
    /** Reason, from a closed list. */
    code: 'declined' | 'out_of_stock' | 'network_unavailable' | 'outcome_unknown' | 'state_conflict' | 'product_missing' | 'canceled' | 'superseded' | 'internal';
    /** The cause and what to do about it. */
    message: string;
    /** Whether the same request can succeed if you send it again. */
    retryable: boolean;
    /** Error details from the network. */
    upstream?: Record<string, string>;
  };
  /** Price of the product when it was ordered. Only of `esim.provision` and `bundle.add`; the response to the order of an eSIM does not have it yet. */
  price?: {
    /** Price in the currency’s minor unit, such as cents. */
    amount: number;
    /** ISO 4217 code in lowercase. */
    currency: string;
  };
  /** Number of attempts made with the network. */
  attempts: number;
  /** When the request was accepted. Unix time in seconds. */
  created: number;
  /** When the execution succeeded or failed. Unix time in seconds. */
  finished_at: number | null;
  /** Why the execution is waiting, and what to do about it; null while an attempt runs and once it has ended. */
  waiting_for: string | null;
  /** Earliest time of the next attempt; null if the execution is not waiting. Unix time in seconds. */
  next_attempt_at: number | null;
  /** The failed execution that this one repeats or continues, by decision of the operator. */
  retry_of?: string;
  /** The execution that the operator started in place of this failed one. */
  retried_by?: string;
  /** Account of the execution. */
  account_id: string;
  /** When the lease of the worker that runs it ends; null if no worker runs it. Unix time in seconds. */
  leased_until: number | null;
  /** The recorded calls to the network, in order. */
  steps: Array<{
    /** The step, such as `order`, `confirm`, `release`, `undo`. */
    name: string;
    /** Id of its calls at the network, the same for every repetition. */
    function_call_identifier: string;
    /** `done`: the network confirmed it. `failed`: the last call got an error or no answer. `sent`: the answer is not known. */
    status: 'done' | 'failed' | 'sent';
  }>;
  /** The last failed call. Stays after the execution has succeeded. */
  last_error: {
    /** The step that failed; null if no call was made. */
    step: string | null;
    /** As in `error.code`. */
    code: string;
    /** Cause and remedy, with hosts and settings. */
    message: string;
    /** Error details from the network. */
    upstream?: Record<string, string>;
    /** The host that was called; null if unknown. */
    network: string | null;
    /** When it happened. Unix time in seconds. */
    at: number;
  } | null;
  /** The decision about an unknown outcome; null if there is none. */
  resolution: {
    outcome: 'reserved' | 'not_reserved';
    /** The profile that was reserved. */
    iccid: string | null;
    /** What was decided about the profile. */
    then: 'adopt' | 'cancel' | null;
    /** `closed`: nothing is left to do. `canceling`: the profile is being canceled. `refused`: the network refused to cancel it, see `error`. */
    status: 'closed' | 'canceling' | 'refused';
    /** Id of the calls that cancel the profile; null if it is not canceled. */
    function_call_identifier: string | null;
    /** Calls made to cancel the profile. */
    attempts: number;
    /** Why the profile is not canceled yet, or was not. */
    error: {
      code: string;
      message: string;
      /** Error details from the network. */
      upstream?: Record<string, string>;
    } | null;
    decided_by: {
      type: 'api_key' | 'operator' | 'command_line';
      /** The key. */
      id: string | null;
      /** The key’s name. */
      name: string | null;
    };
    /** When it was decided. Unix time in seconds. */
    decided_at: number;
    /** When nothing was left to do. Unix time in seconds. */
    closed_at: number | null;
  } | null;
  /** The group of a failure on which nobody has acted yet. */
  failure_group: string | null;
};

/** A data plan that you can provision on an eSIM. */
export type Product = {
  id: string;
  object: 'product';
  name: string;
  /** Countries where the plan works, as ISO 3166-1 alpha-2 codes. */
  countries: string[];
  /** Data allowance in bytes; null means unlimited. */
  data_bytes: number | null;
  /** Days the data is valid, counted from the activation of its bundle. */
  validity_days: number;
  price: {
    /** Price in the currency’s minor unit, such as cents. */
    amount: number;
    /** ISO 4217 code in lowercase. */
    currency: string;
  };
  speeds: Array<'3G' | '4G' | '5G'>;
  /** What the network does with an eSIM whose data is used up, if it has no other bundle there. */
  after_depletion: {
    /** `bar`: no more data. `throttle`: limited to `kbps` until the bundle’s validity ends. `none`: full service until then. */
    action: 'bar' | 'throttle' | 'none';
    /** Speed limit in kbit/s; only for `throttle`. */
    kbps: number | null;
  };
  /** Whether the product can be ordered. */
  active: boolean;
  /** When the product was added to the catalog. Unix time in seconds. */
  created: number;
};

/** A search for the events that an endpoint missed, which queues them for delivery. */
export type Recovery = {
  id: string;
  object: 'recovery';
  webhook_endpoint_id: string;
  /** `succeeded`: every missed event is queued for delivery. `canceled`: the endpoint was disabled or deleted before that. */
  status: 'queued' | 'running' | 'succeeded' | 'canceled';
  /** Start of the recovered period. Unix time in seconds. */
  since: number;
  /** End of the recovered period; null if it is when the recovery was requested. Unix time in seconds. */
  until: number | null;
  /** Only events of these types and families; null for all. */
  types: string[] | null;
  /** How much of the period has been searched. The search begins with the newest events. */
  progress_percent: number;
  /** Events searched so far, of all types. */
  checked_count: number;
  /** Missed events found and queued for delivery so far. */
  queued_count: number;
  /** When the recovery was requested. Unix time in seconds. */
  created: number;
  /** When it succeeded or was canceled. Unix time in seconds. */
  finished_at: number | null;
};

/** What a recovery would queue. Nothing is stored or sent. */
export type RecoveryPreview = {
  object: 'recovery_preview';
  webhook_endpoint_id: string;
  /** Start of the searched period. Unix time in seconds. */
  since: number;
  /** Events that a recovery would queue now. */
  event_count: number;
  /** The same by event type, the most frequent first. */
  types: Array<{
    type: string;
    count: number;
  }>;
  /** Whether counting stopped early: at 10,000 events to queue, or with `since` at 50,000 searched. With `since`, counting begins with the newest events, otherwise with the oldest. */
  capped: boolean;
};

/** Something of the account that a search found. */
export type SearchResult = {
  /** Id, ICCID, name or idempotency key. */
  id: string;
  object: 'search_result';
  /** What was found. */
  type: 'esim' | 'execution' | 'batch' | 'event' | 'webhook_endpoint' | 'delivery' | 'bundle' | 'recovery' | 'request' | 'audit_entry' | 'api_key' | 'account' | 'product' | 'event_consumer' | 'idempotency_key';
  /** A short description. */
  title: string;
  /** Path of the operation that returns it, or the list that contains it; null for an idempotency key whose request created nothing. */
  path: string | null;
  /** When it was created. Unix time in seconds. */
  created: number;
};

/** The newest state of an eSIM, which the operator’s core does not have. */
export type ServiceChange = {
  object: 'service_change';
  /** The eSIM’s account. */
  account_id: string;
  /** ICCID of the eSIM: 18 to 20 digits. */
  iccid: string;
  /** `pending`: it is being sent, or sent again. `refused`: the core refused it, and it is not sent again until the eSIM changes or the core is resynced. */
  state: 'pending' | 'refused';
  /** `service.version` of the eSIM. */
  version: number;
  /** What the core should let the eSIM do. */
  service: {
    /** What the network should let the eSIM do with data. */
    state: 'full' | 'throttled' | 'barred';
    /** Why it is not `full`: no bundle yet (`not_active`), the bundle used up or expired, no bundle for the country where the eSIM is (`not_covered`), or the eSIM suspended or terminated. Null if it is. */
    reason: 'not_active' | 'depleted' | 'expired' | 'not_covered' | 'suspended' | 'terminated' | null;
    /** Speed limit in kbit/s if `throttled`, else null. */
    kbps: number | null;
    /** Id of the bundle that the state follows from; null if none. */
    bundle_id: string | null;
    /** When the state ends by itself, as a bundle’s validity does; null if no such time is known. Unix time in seconds. */
    until: number | null;
  };
  /** Since when the core is behind. Unix time in seconds. */
  since: number;
  /** Attempts that failed since this version exists. */
  failures: number;
  /** Earliest time of the next attempt; null if it was refused. Unix time in seconds. */
  next_attempt_at: number | null;
  /** How the last attempt ended; null before the first has. */
  error: {
    /** Why the core does not have it. */
    message: string;
  } | null;
};

/** Someone who is signed in to the dashboard. */
export type Session = {
  id: string;
  object: 'session';
  /** The key that it stands for. */
  api_key: {
    id: string;
    name: string;
    last4: string;
  };
  /** The address it was started from. */
  ip: string | null;
  /** The browser it was started with, as its `User-Agent` header says: up to 200 characters. */
  user_agent: string | null;
  /** When someone signed in. Unix time in seconds. */
  created: number;
  /** When it ends by itself: no later than its key. Unix time in seconds. */
  expires_at: number;
};

/** Something that happened to an eSIM: an event, or an order or command with its steps. */
export type TimelineEntry = {
  /** Id of the event or execution. */
  id: string;
  object: 'timeline_entry';
  /** `order` and `command` (suspend, resume, terminate, top-up) are executions. The others are events: `state` of the eSIM, `profile` on a device, `attach` in another country, `bundle`, `usage` thresholds, and `other` for test events. */
  kind: 'order' | 'command' | 'state' | 'profile' | 'attach' | 'bundle' | 'usage' | 'other';
  /** Type of the event or execution. */
  type: string;
  /** What happened, in one sentence. */
  title: string;
  /** When it happened, or when the request was accepted. Unix time in seconds. */
  created: number;
  /** Present if it is an event. */
  event_id?: string;
  /** The execution, or the one that caused the event. */
  execution_id?: string;
  /** The request that ordered the execution. Absent for events, and if it is not known: orders that were accepted together have the first one’s only. */
  request_id?: string;
  /** Status of the execution. Absent for events. */
  status?: 'queued' | 'running' | 'succeeded' | 'failed';
  /** Steps of the execution, oldest first. Absent for events. */
  steps?: Array<{
    name: 'accepted' | 'running' | 'waiting' | 'succeeded' | 'failed';
    /** When it happened; for `waiting`, the earliest time of the next attempt. Null if it is not known. Unix time in seconds. */
    at: number | null;
    /** For `running`: number of attempts made so far with the network. */
    attempts?: number;
    /** For `failed`: the reason, as in the execution’s `error.code`. */
    error_code?: string;
    /** For `waiting` and `failed`: the cause and what to do about it. */
    message?: string;
  }>;
  /** How many deliveries of the event are in each status. Absent for executions. */
  deliveries?: {
    pending: number;
    succeeded: number;
    failed: number;
  };
  /** `data` of the event. Absent for executions. */
  data?: Record<string, unknown>;
};

/** Result of a batch of usage records. `accepted`, `duplicates` and `rejected` add up to its size. */
export type UsageRecordBatch = {
  object: 'usage_record_batch';
  /** Records counted by this request. */
  accepted: number;
  /** Records counted before, or repeated within this request. */
  duplicates: number;
  /** Records not counted. `rejections` gives the reasons. */
  rejected: number;
  /** The first 100 rejected records. */
  rejections: Array<{
    /** Index of the record in `records`, from 0. */
    index: number;
    record_id: string;
    /** ICCID of the eSIM: 18 to 20 digits. */
    iccid: string;
    /** `esim_unknown`: no eSIM has this ICCID. `esim_not_ready`: the eSIM is still provisioning, or may be in another cell that did not answer; report the record again later. `esim_ended`: the eSIM failed, or was terminated before `at`. `too_old`: `at` is longer ago than the operator’s `SIMPLANE_USAGE_MAX_AGE` (35 days), so the record may have been counted and forgotten. `record_unknown`: no record with the id in `corrects` was counted for this eSIM; report it first. `already_corrected`: another record has replaced the one in `corrects`; correct that one. */
    reason: 'esim_unknown' | 'esim_not_ready' | 'esim_ended' | 'too_old' | 'record_unknown' | 'already_corrected';
  }>;
};

/** A URL of yours that receives events. */
export type WebhookEndpoint = {
  id: string;
  object: 'webhook_endpoint';
  /** URL that receives deliveries. */
  url: string;
  enabled_event_types: string[];
  description: string | null;
  /** Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500. */
  metadata: Record<string, string>;
  /** `none`: every event is sent immediately. `esim`: an event of an eSIM is sent only after the deliveries of that eSIM’s earlier events have ended, in the order of the event feed. */
  ordering: 'none' | 'esim';
  status: 'enabled' | 'disabled';
  /** Why Simplane disabled the endpoint, and what to fix. */
  disabled_reason?: string;
  /** When the endpoint was disabled. Unix time in seconds. */
  disabled_at: number | null;
  /** When the first attempt failed since the last success, or since the endpoint was enabled; null if none has failed. Unix time in seconds. */
  failing_since: number | null;
  /** Failed attempts since `failing_since`. */
  failure_count: number;
  /** When a delivery last succeeded. May be up to a minute old while deliveries keep succeeding. Unix time in seconds. */
  last_success_at: number | null;
  /** Why the last attempt failed; null when the endpoint is not failing. */
  last_error: string | null;
  /** When the next attempt is due; null when the endpoint is not failing or nothing is pending. Unix time in seconds. */
  next_attempt_at: number | null;
  /** Events that the endpoint was subscribed to when they happened, has not received, and has no pending delivery of; counted up to 1,000. Enabling the endpoint does not change it; `recover` sends them. */
  missed_count: number;
  /** When the oldest of these events happened; null if there is none. Unix time in seconds. */
  missed_since: number | null;
  /** When the current signing secrets were created and expire, newest first. The secrets themselves are not shown. */
  secrets: Array<{
    /** When the secret was created. Unix time in seconds. */
    created: number;
    /** When it stops signing; null for the current one. Unix time in seconds. */
    expires_at: number | null;
  }>;
  /** Secret that signs deliveries. Returned only on creation and rotation. */
  secret?: string;
  api_version: string;
  /** When the endpoint was created. Unix time in seconds. */
  created: number;
};

/** Attempts of an endpoint per hour. Retries count, test requests do not. */
export type WebhookEndpointStats = {
  object: 'webhook_endpoint_stats';
  webhook_endpoint_id: string;
  /** Start of the first hour of the period. Unix time in seconds. */
  from: number;
  /** Attempts with a 2xx response. */
  succeeded_count: number;
  /** Attempts with another response or none. */
  failed_count: number;
  /** Median duration of the attempts, accurate to within 10 %; null without attempts. */
  p50_ms: number | null;
  /** 99th percentile of the duration, accurate to within 10 %; null without attempts. */
  p99_ms: number | null;
  /** The hours with attempts, newest first. */
  hours: Array<{
    /** Start of the hour. Unix time in seconds. */
    hour: number;
    /** Attempts with a 2xx response. */
    succeeded_count: number;
    /** Attempts with another response or none. */
    failed_count: number;
    p50_ms: number;
    p99_ms: number;
  }>;
};

/** The result of one test request to an endpoint. */
export type WebhookProbe = {
  object: 'webhook_probe';
  webhook_endpoint_id: string;
  /** The `id` in the body of the request. No such event is in the log. */
  event_id: string;
  /** `succeeded`: the response was a 2xx. */
  outcome: 'succeeded' | 'failed';
  /** When the attempt started. Unix time in seconds. */
  at: number;
  duration_ms: number;
  /** HTTP status; null when there was no response. */
  status_code: number | null;
  /** Why there was no response, in words; null if there was one. */
  error: string | null;
  /** First 1 kB of the response; null for private addresses. */
  response: string | null;
};

/** A page of a list; `next_cursor` is set when another page exists. */
export type Page<Item> = { object: 'list'; data: Item[]; has_more: boolean; next_cursor?: string };

/** The fields of `data`, by event type. */
export type EventData = {
  /** The eSIM is ready to install. */
  'esim.provisioned': {
    iccid: string;
    execution_id: string;
    product_id: string;
    batch_id?: string;
    reference?: string;
  };
  /** The order failed permanently; the execution says why. */
  'esim.provisioning_failed': {
    execution_id: string;
    product_id: string;
    error: {
      code: string;
      message: string;
      /** The network’s own codes. */
      upstream?: Record<string, string>;
    };
    iccid?: string;
    batch_id?: string;
    reference?: string;
  };
  /** The eSIM attached to a network for the first time. */
  'esim.activated': {
    iccid: string;
    product_id: string;
    reference?: string;
  };
  /** The eSIM was suspended. */
  'esim.suspended': {
    iccid: string;
    execution_id: string;
    product_id: string;
    reference?: string;
  };
  /** The eSIM was resumed. */
  'esim.resumed': {
    iccid: string;
    execution_id: string;
    product_id: string;
    reference?: string;
  };
  /** The eSIM was terminated. */
  'esim.terminated': {
    iccid: string;
    execution_id: string;
    product_id: string;
    reference?: string;
  };
  /** The personal data of the eSIM was erased, also in its earlier events. Erase what you have of it too. */
  'esim.erased': {
    iccid: string;
  };
  /** A device downloaded the profile. */
  'esim.downloaded': {
    iccid: string;
    product_id: string;
    reference?: string;
  };
  /** A device installed the profile. */
  'esim.installed': {
    iccid: string;
    product_id: string;
    reference?: string;
  };
  /** A device enabled the profile. */
  'esim.enabled': {
    iccid: string;
    product_id: string;
    reference?: string;
  };
  /** A device disabled the profile. */
  'esim.disabled': {
    iccid: string;
    product_id: string;
    reference?: string;
  };
  /** A device deleted the profile. */
  'esim.deleted': {
    iccid: string;
    product_id: string;
    reference?: string;
  };
  /** A device could not download the profile. `error` says why, in words and in the network’s codes. */
  'esim.download_failed': {
    iccid: string;
    product_id: string;
    error: {
      code: string;
      message: string;
      /** The network’s own codes. */
      upstream?: Record<string, string>;
    };
    reference?: string;
  };
  /** A device downloaded the profile but could not install it. `error` says why, in words and in the network’s codes. */
  'esim.install_failed': {
    iccid: string;
    product_id: string;
    error: {
      code: string;
      message: string;
      /** The network’s own codes. */
      upstream?: Record<string, string>;
    };
    reference?: string;
  };
  /** The eSIM attached in a different country than before. */
  'esim.country_changed': {
    iccid: string;
    product_id: string;
    country: string;
    previous_country: string;
    reference?: string;
  };
  /** The eSIM used data that no bundle covers. Sent once per country and day (UTC); `country` is absent if the network reported none. */
  'esim.usage_not_covered': {
    iccid: string;
    product_id: string;
    uncovered_bytes: number;
    country?: string;
    reference?: string;
  };
  /** The eSIM may use more or less than before, or for another reason: `state`, `reason` or `kbps` of its `service` changed. The operator’s core may not have it yet: `applied_version` of the eSIM says so. */
  'esim.service_changed': {
    iccid: string;
    product_id: string;
    state: string;
    reason: string | null;
    kbps: number | null;
    version: number;
    reference?: string;
  };
  /** Someone opened an install link for the first time. Sent once per link; previews by chat and mail programs do not count. */
  'install_link.opened': {
    iccid: string;
    product_id: string;
    install_link_id: string;
    reference?: string;
  };
  /** A top-up succeeded: its bundle was added to the eSIM. The first bundle of an eSIM comes with `esim.provisioned`. */
  'bundle.added': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    execution_id: string;
    reference?: string;
  };
  /** A bundle became active, for the first time or because a correction of its usage ended its depletion. `execution_id` is present if an order activated it. */
  'bundle.activated': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    expires_at: number;
    execution_id?: string;
    reference?: string;
  };
  /** A bundle’s usage reached a threshold. Sent once per bundle and threshold, in ascending order; a correction of usage neither takes it back nor repeats it. */
  'bundle.usage_threshold': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    threshold_percent: number;
    used_bytes: number;
    data_bytes: number | null;
    reference?: string;
  };
  /** A bundle’s data is used up. */
  'bundle.depleted': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    used_bytes: number;
    data_bytes: number | null;
    reference?: string;
  };
  /** A bundle expired. */
  'bundle.expired': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    used_bytes: number;
    data_bytes: number | null;
    reference?: string;
  };
  /** The last open order of a batch has ended. Sent once per batch. */
  'batch.finished': {
    batch_id: string;
    total: number;
    succeeded: number;
    failed: number;
    canceled: number;
  };
  /** A suspension, resumption, termination or top-up failed permanently, or was canceled. An order of an eSIM has `esim.provisioning_failed` instead. */
  'execution.failed': {
    iccid: string;
    execution_id: string;
    execution_type: string;
    product_id: string;
    error: {
      code: string;
      message: string;
      /** The network’s own codes. */
      upstream?: Record<string, string>;
    };
    reference?: string;
  };
  /** An endpoint keeps failing and may be disabled. Sent to the account’s other endpoints. */
  'webhook_endpoint.failing': {
    webhook_endpoint_id: string;
    url: string;
    failing_since: number;
    failure_count: number;
    last_error: string | null;
  };
  /** A delivery succeeded at an endpoint that was failing or disabled. Sent to the account’s other endpoints. */
  'webhook_endpoint.recovered': {
    webhook_endpoint_id: string;
    url: string;
  };
  /** An endpoint was disabled because it kept failing. Sent to the account’s other endpoints. */
  'webhook_endpoint.disabled': {
    webhook_endpoint_id: string;
    url: string;
    disabled_reason: string;
  };
  /** A bundle was canceled, by request or because its eSIM was terminated. `execution_id` is that of the termination. */
  'bundle.canceled': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    execution_id?: string;
    reference?: string;
  };
};

/** The parameters and the result of every operation. */
export type Operations = {
  /** Returns the account, the scopes of the key and the mode of the deployment. Use it to check that a key works: it answers every valid key, whatever its scopes. */
  getMe: {
    result: Identity;
  };
  /** Returns how many orders of the last day reached each stage and how long that took, failures by code, and the same counts by hour. Workers count in the background: `as_of` says up to when, usually a second or two ago. */
  getOverview: {
    query: {
      /** Start of the window, rounded down to a full hour. Defaults to a day before `until`. Unix time in seconds. */
      from?: number;
      /** End of the window, rounded up to a full hour; at most 744 hours after `from`. Defaults to now. Unix time in seconds. */
      until?: number;
    };
    result: Overview;
  };
  /** Finds what belongs to an id (`evt_…`, `exec_…`, `bat_…`, `we_…`, `dlv_…`, `bdl_…`, `rec_…`, `req_…`, `key_…`, `aud_…`, a product’s), the name of an event consumer, an ICCID or its last digits (at least four), the `reference` of an order, a value in an eSIM’s `metadata`, or an idempotency key of the last 24 hours. Other keys and the audit log need the scope `admin`. Returns one page. */
  search: {
    query: {
      /** An id, an ICCID or its last digits, a reference, a value of metadata, a name, or an idempotency key: complete, not the start of one. */
      q: string;
      /** How many results to return at most. Values above 100 are treated as 100. */
      limit?: number;
    };
    result: Page<SearchResult>;
  };
  /** Returns the listed and active products of the catalog. */
  listProducts: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only products that work in this country, an ISO 3166-1 alpha-2 code. */
      country?: string;
    };
    result: Page<Product>;
  };
  /** Returns a product, even if it is unlisted or no longer active. */
  getProduct: {
    params: {
      /** Id of the product. */
      id: string;
    };
    result: Product;
  };
  /** Stores the order durably and immediately returns an execution. Send an `Idempotency-Key` so that a retry after a timeout never orders twice. An `esim.provisioned` event follows. */
  createEsim: {
    body: {
      /** Id of the product to provision. */
      product_id: string;
      /** Binds the profile to the device with this 32-digit EID. If null or omitted, any device can install it. */
      eid?: string | null;
      /** Code that the device asks its user for. Share it separately from the QR code. It is a secret and is never returned. */
      confirmation_code?: string;
      /** Your own name for the order, such as its number in your shop: up to 100 characters on one line. Lists and `search` find it, and events carry it. It need not be unique. */
      reference?: string | null;
      /** Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500. Null or an empty value removes a key. */
      metadata?: Record<string, string | null>;
      /** Your own note, up to 500 characters; null for none. */
      description?: string | null;
      /** Only checks the request: returns a `DryRun`, or the error that the order would get. Nothing is written, and the `Idempotency-Key` is ignored. */
      dry_run?: boolean;
    };
    result: Execution;
  };
  /** Returns the account’s eSIMs. Install profiles are secrets and are not included. */
  listEsims: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only eSIMs in this status. */
      status?: 'provisioning' | 'provisioned' | 'active' | 'suspended' | 'terminated' | 'failed';
      /** Only eSIMs that were ordered with this product. */
      product_id?: string;
      /** Only eSIMs of the device with this EID. */
      eid?: string;
      /** Only eSIMs with exactly this `reference`. */
      reference?: string;
      /** Only items with this pair in `metadata`, written as `metadata[order_id]=A-1001`. Up to five pairs, all of which must match. */
      metadata?: Record<string, string>;
      /** Only eSIMs after this time. Unix time in seconds. */
      'created[gt]'?: number;
      /** Only eSIMs at or after this time. Unix time in seconds. */
      'created[gte]'?: number;
      /** Only eSIMs before this time. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only eSIMs at or before this time. Unix time in seconds. */
      'created[lte]'?: number;
    };
    result: Page<Esim>;
  };
  /** Returns the current state of an eSIM. */
  getEsim: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    result: Esim;
  };
  /** Changes the given fields only, in any status of the eSIM. `metadata` is merged: a null value removes its key. */
  updateEsim: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    body: {
      /** Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500. Null or an empty value removes a key. */
      metadata?: Record<string, string | null>;
      /** Your own note, up to 500 characters; null for none. */
      description?: string | null;
    };
    result: Esim;
  };
  /** Returns the LPA string, QR code and install links of a provisioned eSIM. With `Accept: image/png` or `image/svg+xml`, returns the QR code image instead. */
  getInstallProfile: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    result: InstallProfile;
  };
  /** Returns a link to send to the end user: a page in their language that installs the eSIM and shows when it is online. An eSIM has up to 20 links; those that have expired are removed. An `install_link.opened` event follows when someone first opens it. */
  createInstallLink: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    body: {
      /** Seconds until the link ends. Defaults to 30 days; at most a year. */
      expires_in?: number;
      /** Language of the page. Null: that of the reader’s browser, or English. */
      language?: 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'tr' | 'zh' | 'ja' | 'ar' | null;
      /** An `https` URL of yours. The page leads there once the eSIM is online. Null for none. */
      return_url?: string | null;
    };
    result: InstallLink;
  };
  /** Returns the eSIM’s links without their URLs. A link that has expired is listed for 30 days, or until the next one is created. */
  listInstallLinks: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<InstallLink>;
  };
  /** Ends the link at once, on every process. Somebody who has seen the activation code can still use it: terminate the eSIM if that must not happen. */
  revokeInstallLink: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
      /** Id of the link (`ilk_…`). */
      id: string;
    };
    result: {
      id: string;
      object: 'install_link';
      /** Always `true`. */
      deleted: boolean;
    };
  };
  /** Returns what the pages of the account’s install links show of it. */
  getBranding: {
    result: Branding;
  };
  /** Changes the given fields only; null restores the default. `messages` is merged by language: null removes one. Pages show it at once, also those of links sent before. */
  updateBranding: {
    body: {
      /** The name in the page’s header. Null: the account’s name. */
      name?: string | null;
      /** Color of the button, such as `#1d4ed8`, which is the default (null). */
      color?: string | null;
      /** A PNG picture as a data URI: up to 16 kB and 1000 pixels a side, not interlaced. Everything in it but the picture is removed. Null for none. */
      logo?: string | null;
      /** Where the page sends people who need help: a `mailto:`, `https:` or `tel:` URL. Null for none. */
      support_url?: string | null;
      /** Where people buy more data: an `https` URL. The page shows it once they are online. Null for none. */
      top_up_url?: string | null;
      /** The APN that the page shows. Null if phones set it by themselves. */
      apn?: string | null;
      /** A sentence of yours below the heading, by language: up to 200 characters each. A reader sees the one in the page’s language. */
      messages?: {
        en?: string | null;
        de?: string | null;
        fr?: string | null;
        es?: string | null;
        it?: string | null;
        pt?: string | null;
        tr?: string | null;
        zh?: string | null;
        ja?: string | null;
        ar?: string | null;
      };
    };
    result: Branding;
  };
  /** Takes the eSIM off the network until it is resumed. An `esim.suspended` event follows. */
  suspendEsim: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    result: Execution;
  };
  /** Returns a suspended eSIM to its previous status. An `esim.resumed` event follows. */
  resumeEsim: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    result: Execution;
  };
  /** Permanently terminates the eSIM and cancels its bundles. An `esim.terminated` event follows. */
  terminateEsim: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    result: Execution;
  };
  /** Removes the EID, reference, metadata, description, countries, the activation code, install links and the addresses of those who viewed them, from the eSIM and from its orders, bundles, events and stored answers. It starts at once. The eSIM must be terminated. What stays is its ICCID, its status, its usage in bytes, and who did what when. An event `esim.erased` follows, so that your own systems can do the same. This cannot be undone. Erasing it again returns the same erasure. */
  eraseEsim: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    result: {
      id: string;
      object: 'erasure';
      /** What is erased. */
      target: {
        type: 'esim' | 'account';
        /** ICCID of the eSIM, or id of the account. */
        id: string;
      };
      status: 'pending' | 'finished';
      /** When it was requested. Unix time in seconds. */
      requested_at: number;
      /** When the personal data was gone; null until then. Unix time in seconds. */
      finished_at: number | null;
    };
  };
  /** Returns whether the personal data of the eSIM is gone. 404 if it was never asked for. */
  getEsimErasure: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    result: {
      id: string;
      object: 'erasure';
      /** What is erased. */
      target: {
        type: 'esim' | 'account';
        /** ICCID of the eSIM, or id of the account. */
        id: string;
      };
      status: 'pending' | 'finished';
      /** When it was requested. Unix time in seconds. */
      requested_at: number;
      /** When the personal data was gone; null until then. Unix time in seconds. */
      finished_at: number | null;
    };
  };
  /** Returns the order, the commands and the events of an eSIM in one list, with the steps of each execution and the delivery counts of each event. Events older than the retention period are not included. */
  listTimeline: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<TimelineEntry>;
  };
  /** Returns how much data the eSIM used in each hour or day, across all its bundles. To see how much data is left, list its bundles. */
  getEsimUsage: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    query: {
      /** Length of an interval. Days begin at midnight UTC. */
      interval?: 'hour' | 'day';
      /** Start, rounded down to a full interval. Defaults to 24 hours or 30 days before `until`. Hours are kept for 35 days, or what the operator has set; days are kept. Unix time in seconds. */
      from?: number;
      /** End, rounded up to a full interval; at most 744 hours or 366 days after `from`. Defaults to now. Unix time in seconds. */
      until?: number;
    };
    result: EsimUsage;
  };
  /** Returns the eSIM’s bundles with their usage. */
  listBundles: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Bundle>;
  };
  /** Adds a bundle. It stays queued while another bundle that covers the eSIM’s country is active. A product that covers no country of the eSIM’s own product is refused unless `any_region` is true. */
  addBundle: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    body: {
      /** Id of the product to add. */
      product_id: string;
      /** Your own name for the order, such as its number in your shop: up to 100 characters on one line. Lists and `search` find it, and events carry it. It need not be unique. */
      reference?: string | null;
      /** Usage percentages at which a `bundle.usage_threshold` event is sent. Defaults to 50, 80 and 100. */
      thresholds?: number[];
      /** Set to true to add a product that covers no country of the eSIM’s own product. Make sure that the eSIM’s network works there. */
      any_region?: boolean;
      /** Only checks the request: returns a `DryRun`, or the error that the order would get. Nothing is written, and the `Idempotency-Key` is ignored. */
      dry_run?: boolean;
    };
    result: Execution;
  };
  /** Cancels a bundle that has not started. It stays in the list as `canceled`, and a `bundle.canceled` event follows. Any other bundle returns 409 `state_conflict`. */
  cancelBundle: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
      /** Id of the bundle (`bdl_…`). */
      id: string;
    };
    result: Bundle;
  };
  /** Counts data usage against bundles and sends the resulting events. For the network that carries the eSIMs. Each record counts once, however often it is sent, so it is always safe to send a batch again. A malformed record fails the whole batch; an unknown ICCID rejects only its own records. */
  reportUsage: {
    body: {
      /** Records in any order. They are counted in order of `at`; corrections follow, in the order given. */
      records: Array<{
        /** Your id for the record, unique per eSIM. A record that was counted is not counted again. */
        record_id: string;
        /** ICCID of the eSIM: 18 to 20 digits. */
        iccid: string;
        /** Bytes used, upload and download combined. */
        bytes: number;
        /** When the data was used. At most five minutes ahead; a time in the future counts as now, one before the order of the eSIM as the time of the order. Records from more than 35 days ago, or what the operator has set, are rejected. Unix time in seconds. */
        at: number;
        /** Country where the eSIM was attached, as an ISO 3166-1 alpha-2 code. It decides which bundles cover the usage; if omitted, the last known country counts. */
        country?: string;
        /** `record_id` of an earlier record of this eSIM that this one replaces. The earlier amount no longer counts. Events that were sent are neither taken back nor repeated. */
        corrects?: string;
      }>;
    };
    result: UsageRecordBatch;
  };
  /** Stores up to 1,000 orders with one write: all are accepted, or none. Then each runs on its own, as an order of `POST /v1/esims` does. Send `product_id` and `quantity`, or `orders`. An error names the order that it is about, such as `orders[17].eid`. A `batch.finished` event follows when the last order has ended. */
  createBatch: {
    body: {
      /** Id of the product that all eSIMs get. Needs `quantity`. */
      product_id?: string;
      /** Number of eSIMs. Needs `product_id`. */
      quantity?: number;
      /** One entry per eSIM, instead of `product_id` and `quantity`. */
      orders?: Array<{
        /** Id of the product to provision. */
        product_id: string;
        /** Your own name for the order, such as its number in your shop: up to 100 characters on one line. Lists and `search` find it, and events carry it. It need not be unique. */
        reference?: string | null;
        /** Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500. Null or an empty value removes a key. */
        metadata?: Record<string, string | null>;
        /** Binds the profile to the device with this EID. */
        eid?: string | null;
      }>;
      /** Only checks the request: returns a `DryRun`, or the error that the order would get. Nothing is written, and the `Idempotency-Key` is ignored. */
      dry_run?: boolean;
    };
    result: Batch;
  };
  /** Returns the account’s batches with their progress. */
  listBatches: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only batches after this time. Unix time in seconds. */
      'created[gt]'?: number;
      /** Only batches at or after this time. Unix time in seconds. */
      'created[gte]'?: number;
      /** Only batches before this time. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only batches at or before this time. Unix time in seconds. */
      'created[lte]'?: number;
    };
    result: Page<Batch>;
  };
  /** Returns a batch with its progress. `GET /v1/executions?batch_id=` lists its orders; those that failed say why. */
  getBatch: {
    params: {
      /** Id of the batch (`bat_…`). */
      id: string;
    };
    result: Batch;
  };
  /** Cancels the orders of the batch that have not reached the network: they fail with the error code `canceled`, each with its event. The others go on. Returns the batch, also if there was nothing left to cancel. */
  cancelBatch: {
    params: {
      /** Id of the batch (`bat_…`). */
      id: string;
    };
    result: Batch;
  };
  /** Returns the LPA strings and install links of the eSIMs that are ready. `format`, or else `Accept`, chooses JSON, CSV, NDJSON, or a ZIP archive: `zip` has the QR codes as PNG, `zip_svg` as SVG, `cards` a printable card per eSIM. Each call is in the audit log. */
  listBatchInstallProfiles: {
    params: {
      /** Id of the batch (`bat_…`). */
      id: string;
    };
    query: {
      /** Format of the answer; JSON by default. */
      format?: 'json' | 'csv' | 'ndjson' | 'zip' | 'zip_svg' | 'cards';
    };
    result: BatchInstallProfiles;
  };
  /** Returns the account’s executions with their status. */
  listExecutions: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only executions in this status. */
      status?: 'queued' | 'running' | 'succeeded' | 'failed';
      /** Only executions of this type. Separate several by commas. */
      type?: 'esim.provision' | 'esim.suspend' | 'esim.resume' | 'esim.terminate' | 'bundle.add' | Array<'esim.provision' | 'esim.suspend' | 'esim.resume' | 'esim.terminate' | 'bundle.add'>;
      /** Only failed executions with this `error.code`. */
      error_code?: 'declined' | 'out_of_stock' | 'network_unavailable' | 'outcome_unknown' | 'state_conflict' | 'product_missing' | 'canceled' | 'superseded' | 'internal';
      /** Only executions after this time. Unix time in seconds. */
      'created[gt]'?: number;
      /** Only executions at or after this time. Unix time in seconds. */
      'created[gte]'?: number;
      /** Only executions before this time. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only executions at or before this time. Unix time in seconds. */
      'created[lte]'?: number;
      /** Only executions with exactly this `reference`. */
      reference?: string;
      /** Only executions of this batch. */
      batch_id?: string;
    };
    result: Page<Execution>;
  };
  /** Returns the current status of an execution. */
  getExecution: {
    params: {
      /** Id of the execution (`exec_…`). */
      id: string;
    };
    result: Execution;
  };
  /** Ends an execution that has not reached the network: it fails with the error code `canceled`. Once a call to the network may have been made, returns 409 `state_conflict`: wait until the execution has ended, then terminate the eSIM if you do not need it. A second cancellation returns the execution unchanged. */
  cancelExecution: {
    params: {
      /** Id of the execution (`exec_…`). */
      id: string;
    };
    result: Execution;
  };
  /** Returns the event log. */
  listEvents: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only events of this type, or of a family such as `esim.*`. Separate several by commas. */
      type?: string | string[];
      /** Only events after this time. Unix time in seconds. */
      'created[gt]'?: number;
      /** Only events at or after this time. Unix time in seconds. */
      'created[gte]'?: number;
      /** Only events before this time. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only events at or before this time. Unix time in seconds. */
      'created[lte]'?: number;
      /** Only events with a delivery in this status. `undelivered`: an endpoint that was subscribed when the event happened has not received it, and no delivery is pending, also because the endpoint was disabled. */
      delivery?: 'pending' | 'failed' | 'canceled' | 'undelivered';
      /** Only events of the eSIM with this ICCID. */
      iccid?: string;
      /** Only events that this execution caused. */
      execution_id?: string;
      /** Only events with exactly this `reference`. */
      reference?: string;
    };
    result: Page<Event>;
  };
  /** Returns an event, byte for byte as it is delivered. */
  getEvent: {
    params: {
      /** Id of the event (`evt_…`). */
      id: string;
    };
    result: Event;
  };
  /** Returns every event type and the fields of its `data`. */
  listEventTypes: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<EventType>;
  };
  /** Publishes a custom event through the same pipeline as real events. Sandbox only. */
  sendTestEvent: {
    body: {
      /** Any well-formed event type name. */
      type: string;
      /** Delivered equal as JSON: spaces and the notation of numbers may differ. Send integers beyond 2^53 as strings. */
      data: Record<string, unknown>;
    };
    result: Event;
  };
  /** Delivers the event again, with the same id and bytes, to every endpoint that is now enabled and subscribed, or only to `webhook_endpoint_id`. */
  replayEvent: {
    params: {
      /** Id of the event (`evt_…`). */
      id: string;
    };
    body: {
      /** Target endpoint. */
      webhook_endpoint_id?: string;
    };
    result: {
      object: 'event_replay';
      event_id: string;
      deliveries: Delivery[];
    };
  };
  /** Delivers up to 100 events again, each as `POST /v1/events/{id}/replay` does. If one does not exist, none is delivered. */
  replayEvents: {
    body: {
      /** Ids of the events (`evt_…`). */
      event_ids: string[];
      /** Target endpoint; all that are subscribed if omitted. */
      webhook_endpoint_id?: string;
    };
    result: {
      object: 'event_replays';
      /** One item for each event, in the order of the request. */
      data: Array<{
        object: 'event_replay';
        event_id: string;
        /** Ids of the deliveries that were queued; none if no endpoint is subscribed. */
        deliveries: string[];
      }>;
    };
  };
  /** Returns the deliveries of an event, with their attempts. */
  listEventDeliveries: {
    params: {
      /** Id of the event (`evt_…`). */
      id: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Delivery>;
  };
  /** Returns events oldest first, each once and without gaps. With `wait`, the response waits for an event if there is none yet. With `Accept: text/event-stream`, the events arrive as a stream of server-sent events whose `id` is the cursor; `Last-Event-ID` resumes it. */
  readEventFeed: {
    query: {
      /** Where to begin: a cursor, `start` (the oldest event kept) or `now`. */
      after?: string;
      /** Instead of `after`: begin with the first event created at or after this time. Unix time in seconds. */
      since?: number;
      /** Instead of `after` and `type`: begin at the place of this consumer, with its event types. */
      consumer?: string;
      /** Maximum number of events to return. Streams ignore it. */
      limit?: number;
      /** How many seconds to wait for an event if there is none yet. */
      wait?: number;
      /** Only events of this type, or of a family such as `esim.*`. Separate several by commas. */
      type?: string | string[];
    };
    result: {
      object: 'event_feed';
      /** Events after `after`, oldest first. */
      data: Event[];
      /** Your place after these events. Send it as `after` in the next call. Always present. */
      cursor: string;
      /** Whether there are no more events yet. */
      caught_up: boolean;
    };
  };
  /** Creates a consumer at the place `after`. If one with this name exists, returns it unchanged. The name has up to 100 letters, digits, `_`, `.` and `-`. */
  putEventConsumer: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    body: {
      /** Where to begin: a cursor, `start` (the oldest event kept) or `now`. */
      after?: string;
      /** Event types to read: names, or families such as `esim.*`. All if omitted. */
      type?: string[];
    };
    result: EventConsumer;
  };
  /** Returns the account’s consumers by name, and how far behind each one is. */
  listEventConsumers: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<EventConsumer>;
  };
  /** Returns a consumer and how far behind it is. */
  getEventConsumer: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    result: EventConsumer;
  };
  /** Deletes the consumer and its place in the feed. No events are deleted. */
  deleteEventConsumer: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    result: {
      name: string;
      object: 'event_consumer';
      /** Always `true`. */
      deleted: boolean;
    };
  };
  /** Moves the consumer forward to `cursor`. A cursor behind its place is refused: another program is using the same name. */
  acknowledgeEvents: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    body: {
      /** The `cursor` that you received with the last event you have processed. */
      cursor: string;
    };
    result: EventConsumer;
  };
  /** Moves the consumer to any place, back or forward. */
  seekEventConsumer: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    body: {
      /** Where to begin: a cursor, `start` (the oldest event kept) or `now`. */
      after: string;
    };
    result: EventConsumer;
  };
  /** The response contains the signing secret. Only a retry with the same `Idempotency-Key` returns it again. */
  createWebhookEndpoint: {
    body: {
      /** URL that receives deliveries. Live mode accepts only public `https` URLs. */
      url: string;
      /** Event types to deliver: names, families such as `esim.*`, or `["*"]` for all. */
      enabled_event_types: string[];
      /** Your own note, up to 500 characters; null for none. */
      description?: string | null;
      /** `none`: every event is sent immediately. `esim`: an event of an eSIM is sent only after the deliveries of that eSIM’s earlier events have ended, in the order of the event feed. A change applies to new deliveries. */
      ordering?: 'none' | 'esim';
      /** Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500. Null or an empty value removes a key. */
      metadata?: Record<string, string | null>;
    };
    result: WebhookEndpoint;
  };
  /** Returns the account’s endpoints, without their secrets. */
  listWebhookEndpoints: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<WebhookEndpoint>;
  };
  /** Returns an endpoint. If Simplane disabled it, `disabled_reason` says what to fix. */
  getWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    result: WebhookEndpoint;
  };
  /** Changes the given fields only. `metadata` is merged; null removes a key. A null `description` clears it. `status: "disabled"` stops deliveries, `"enabled"` resumes them. */
  updateWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    body: {
      /** URL that receives deliveries. Live mode accepts only public `https` URLs. */
      url?: string;
      /** Event types to deliver: names, families such as `esim.*`, or `["*"]` for all. */
      enabled_event_types?: string[];
      /** Your own note, up to 500 characters; null for none. */
      description?: string | null;
      /** `none`: every event is sent immediately. `esim`: an event of an eSIM is sent only after the deliveries of that eSIM’s earlier events have ended, in the order of the event feed. A change applies to new deliveries. */
      ordering?: 'none' | 'esim';
      /** Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500. Null or an empty value removes a key. */
      metadata?: Record<string, string | null>;
      /** Stops or resumes deliveries. */
      status?: 'enabled' | 'disabled';
    };
    result: WebhookEndpoint;
  };
  /** Deletes the endpoint and cancels its pending deliveries. */
  deleteWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    result: {
      id: string;
      object: 'webhook_endpoint';
      /** Always `true`. */
      deleted: boolean;
    };
  };
  /** Resumes delivery of new events. Fix the cause first; then use `recover` to deliver the missed events. */
  enableWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    result: WebhookEndpoint;
  };
  /** Returns a new secret. Deliveries are signed with both secrets until the old one expires. */
  rotateWebhookSecret: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    body: {
      /** Seconds until the old secret expires. Defaults to one day; at most one week. */
      expires_in?: number;
    };
    result: WebhookEndpoint;
  };
  /** Sends one request now, signed like a delivery, with an event of type `webhook_endpoint.probe`, and returns what happened. Works in live mode and for a disabled endpoint, and changes neither its health nor its statistics. */
  probeWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    result: WebhookProbe;
  };
  /** Returns how many attempts succeeded and failed, and how long they took, per hour (UTC). An attempt is counted a few seconds after it ended. */
  getEndpointStats: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Length of the period in hours, including the current one. */
      hours?: number;
    };
    result: WebhookEndpointStats;
  };
  /** Counts the events that the endpoint was subscribed to when they happened, has not received, and has no pending delivery of: their deliveries failed or were canceled, or the endpoint was disabled. `recover` sends exactly these. */
  getUndelivered: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Only events of this type, or of a family such as `esim.*`. Separate several by commas. */
      type?: string | string[];
      /** Only events after this time. Unix time in seconds. */
      'created[gt]'?: number;
      /** Only events at or after this time. Unix time in seconds. */
      'created[gte]'?: number;
      /** Only events before this time. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only events at or before this time. Unix time in seconds. */
      'created[lte]'?: number;
    };
    result: {
      object: 'undelivered';
      webhook_endpoint_id: string;
      /** How many events are undelivered. */
      event_count: number;
      /** When the oldest of them happened; null if there is none. Unix time in seconds. */
      oldest: number | null;
      /** By event type, the most frequent first. */
      types: Array<{
        type: string;
        count: number;
      }>;
      /** By the day on which they happened, oldest first. */
      days: Array<{
        /** A day of UTC. */
        day: string;
        count: number;
        /** By event type, the most frequent first. */
        types: Array<{
          type: string;
          count: number;
        }>;
      }>;
      /** Whether counting stopped at 10,000. It begins with the oldest events. */
      capped: boolean;
    };
  };
  /** Queues what the endpoint has not received. Without `since`: every event that it was subscribed to when it happened, as `GET …/undelivered` counts them. With `since`: every event since then that it subscribes to now. The endpoint must be enabled. Runs in the background; get the recovery to see its progress. With `dry_run`, only counts what would be queued and returns 200; this works for a disabled endpoint too. */
  recoverWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    body: {
      /** Start of the period to recover, not in the future. Unix time in seconds. */
      since?: number;
      /** Only events before this time. Unix time in seconds. */
      until?: number;
      /** Only events of these types, or of families such as `esim.*`. */
      types?: string[];
      /** Returns a `RecoveryPreview` and changes nothing. */
      dry_run?: boolean;
    };
    result: Recovery | RecoveryPreview;
  };
  /** Returns the recoveries of an endpoint. */
  listEndpointRecoveries: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Recovery>;
  };
  /** Returns a recovery with its counts and progress. */
  getRecovery: {
    params: {
      /** Id of the recovery (`rec_…`). */
      id: string;
    };
    result: Recovery;
  };
  /** Returns the deliveries to an endpoint, with their attempts. */
  listEndpointDeliveries: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only deliveries in this status. */
      status?: 'pending' | 'succeeded' | 'failed' | 'canceled';
    };
    result: Page<Delivery>;
  };
  /** Returns the attempts of all deliveries to the endpoint: the newest delivery first, and within a delivery the last attempt first. */
  listEndpointAttempts: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only attempts with this outcome. */
      outcome?: 'succeeded' | 'failed';
    };
    result: Page<DeliveryAttempt>;
  };
  /** Returns a delivery with its attempts. */
  getDelivery: {
    params: {
      /** Id of the delivery (`dlv_…`). */
      id: string;
    };
    result: Delivery;
  };
  /** Sends a pending delivery now, even if its endpoint is paused after failures or it waits for another delivery. For a failed or canceled delivery, queues a new one and sends that. */
  retryDelivery: {
    params: {
      /** Id of the delivery (`dlv_…`). */
      id: string;
    };
    result: Delivery;
  };
  /** Cancels a pending delivery. On an endpoint with `ordering: "esim"`, the deliveries that waited for it continue. */
  skipDelivery: {
    params: {
      /** Id of the delivery (`dlv_…`). */
      id: string;
    };
    result: Delivery;
  };
  /** Takes the same path as a live network’s reports and sends the same events. Returns the updated eSIM. Sandbox only. */
  simulateEsim: {
    params: {
      /** ICCID of the eSIM. */
      iccid: string;
    };
    body: {
      /** Action to simulate. */
      action: 'download' | 'install' | 'enable' | 'disable' | 'delete' | 'attach' | 'use_data' | 'deplete_bundle' | 'expire_bundle';
      /** For `attach`, required: the country, as an ISO 3166-1 alpha-2 code. For `use_data` and `deplete_bundle`: the country of the usage; defaults to where the eSIM was last seen. */
      country?: string;
      /** For `use_data`: the bytes used. */
      bytes?: number;
      /** For `use_data`: id of the usage record. A repeated id is not counted again. Generated if omitted. */
      record_id?: string;
      /** When it happened. Defaults to now. At most five minutes ahead; a time in the future counts as now. Unix time in seconds. */
      at?: number;
    };
    result: Esim;
  };
  /** The response contains the key. Only a retry with the same `Idempotency-Key` returns it again. A key creates only keys that have no more than itself: its scopes, its networks or parts of them, and no later expiry. What is left out is inherited. */
  createApiKey: {
    body: {
      /** A name to recognize the key by. */
      name?: string;
      /** What the key may do. A key can only give scopes that it has itself. In live mode only the operator gives `network`. */
      scopes: Array<'read' | 'write' | 'network' | 'admin' | 'install'>;
      /** Networks the key may be used from, in CIDR notation: IPv4 or IPv6, up to 20. Empty: from anywhere. A key with networks gives only networks within its own, and its own if a new key has none. */
      allowed_cidrs?: string[];
      /** When the key stops working, in the future; null if it does not expire. Unix time in seconds. A key gives none that is later than its own, and its own if a new key has none. */
      expires_at?: number | null;
    };
    result: ApiKey;
  };
  /** Returns the account’s keys, also those that expired or were revoked. */
  listApiKeys: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<ApiKey>;
  };
  /** Returns a key without its secret. A revoked key has `revoked_at`. */
  getApiKey: {
    params: {
      /** Id of the key (`key_…`). */
      id: string;
    };
    result: ApiKey;
  };
  /** Changes the given fields only, on every process within 5 seconds. A key changes only keys that have no more than itself (scopes, networks, expiry), before and after the change, and of itself only the name. An expired or revoked key cannot be changed. */
  updateApiKey: {
    params: {
      /** Id of the key (`key_…`). */
      id: string;
    };
    body: {
      /** A name to recognize the key by. */
      name?: string;
      /** What the key may do. A key can only give scopes that it has itself. In live mode only the operator gives `network`. */
      scopes?: Array<'read' | 'write' | 'network' | 'admin' | 'install'>;
      /** Networks the key may be used from, in CIDR notation: IPv4 or IPv6, up to 20. Empty: from anywhere. A key with networks gives only networks within its own, and its own if a new key has none. */
      allowed_cidrs?: string[];
      /** When the key stops working, in the future; null if it does not expire. Unix time in seconds. A key gives none that is later than its own, and its own if a new key has none. */
      expires_at?: number | null;
    };
    result: ApiKey;
  };
  /** Every process refuses the key within 5 seconds. It stays in the list with `revoked_at`; revoking it again changes nothing. An account cannot revoke its last key with the `admin` scope: another must be left that works from the caller’s address, and for as long or for a day. A suspended account may revoke keys. */
  deleteApiKey: {
    params: {
      /** Id of the key (`key_…`). */
      id: string;
    };
    result: {
      id: string;
      object: 'api_key';
      /** Always `true`. */
      deleted: boolean;
    };
  };
  /** Creates a key with the same name, scopes and networks, and lets the old one expire. Both work until then. If the old key had an expiry, the new one is valid for as long as the old one was, but not longer than the key that rolls it. A key rolls only keys that have no more than itself. The response is the new key, shown once. A key can be rolled once; after that, roll its successor. */
  rollApiKey: {
    params: {
      /** Id of the key (`key_…`). */
      id: string;
    };
    body: {
      /** Seconds until the old key expires; 0 means immediately. Defaults to one day; at most one week. It never extends the old key’s own expiry. */
      expires_in?: number;
    };
    result: ApiKey;
  };
  /** Returns who is signed in to the dashboard with keys of the account. Sessions that have ended are not listed; the audit log has them. */
  listSessions: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Session>;
  };
  /** Signs the session out on every process, and ends its open streams within 5 seconds. Its key goes on working: revoke that too if it may be known to others. */
  deleteSession: {
    params: {
      /** Id of the session (`sess_…`). */
      id: string;
    };
    result: {
      id: string;
      object: 'session';
      /** Always `true`. */
      deleted: boolean;
    };
  };
  /** Returns who changed what: every write, by API, dashboard or agent, every view of an activation code, every answer that showed a secret again, and what the operator did in the account. */
  listAuditLog: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only entries by the key with this id, or by the `operator`. */
      actor?: string;
      /** Only entries with this action. */
      action?: 'api_key.created' | 'api_key.updated' | 'api_key.rolled' | 'api_key.revoked' | 'webhook_endpoint.created' | 'webhook_endpoint.updated' | 'webhook_endpoint.enabled' | 'webhook_endpoint.deleted' | 'webhook_endpoint.secret_rotated' | 'webhook_endpoint.recovery_started' | 'webhook_endpoint.probed' | 'event.test_sent' | 'event.replayed' | 'delivery.retried' | 'delivery.skipped' | 'event_consumer.created' | 'event_consumer.acknowledged' | 'event_consumer.moved' | 'event_consumer.deleted' | 'esim.ordered' | 'esim.updated' | 'esim.suspension_ordered' | 'esim.resumption_ordered' | 'esim.termination_ordered' | 'esim.top_up_ordered' | 'esim.bundle_canceled' | 'esim.simulated' | 'esim.install_profile_viewed' | 'esim.erasure_requested' | 'batch.created' | 'batch.canceled' | 'esim.install_link_created' | 'install_link.revoked' | 'install_link.viewed' | 'branding.updated' | 'batch.install_profiles_viewed' | 'usage.reported' | 'account.created' | 'account.updated' | 'account.closed' | 'account.erasure_requested' | 'account.frozen' | 'account.move_started' | 'account.move_undone' | 'account.moved' | 'account.viewed' | 'execution.canceled' | 'execution.retried' | 'execution.resolved' | 'failure_group.retried' | 'core.resync_started' | 'product.updated' | 'product.deactivated' | 'secret.shown_again' | 'session.link_created' | 'session.started' | 'session.ended' | 'session.refused' | 'dashboard.write' | 'secrets.reseal_started';
      /** Only entries about the object with this id, or about the eSIM with this ICCID. */
      target?: string;
      /** Only entries after this time. Unix time in seconds. */
      'created[gt]'?: number;
      /** Only entries at or after this time. Unix time in seconds. */
      'created[gte]'?: number;
      /** Only entries before this time. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only entries at or before this time. Unix time in seconds. */
      'created[lte]'?: number;
    };
    result: Page<AuditEntry>;
  };
  /** Returns the request log of the last seven days. A request appears within a second. The operator chooses which requests are logged. By default, a sandbox logs all requests, and live mode only those that failed. */
  listRequests: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only requests with this status, or of a class such as `4xx`. */
      status?: string;
      /** Only requests with this error. */
      error_code?: 'parameter_missing' | 'parameter_invalid' | 'parameter_unknown' | 'json_invalid' | 'cursor_invalid' | 'query_too_broad' | 'cursor_expired' | 'cursor_behind' | 'consumer_limit_reached' | 'idempotency_key_invalid' | 'idempotency_key_reused' | 'api_version_unknown' | 'url_not_allowed' | 'request_malformed' | 'api_key_missing' | 'api_key_invalid' | 'api_key_expired' | 'api_key_wrong_mode' | 'wrong_cell' | 'session_expired' | 'csrf_token_invalid' | 'host_not_allowed' | 'api_key_address_refused' | 'api_key_settings_refused' | 'scope_missing' | 'account_suspended' | 'sandbox_only' | 'origin_not_allowed' | 'resource_missing' | 'route_missing' | 'method_not_allowed' | 'request_timeout' | 'idempotency_in_progress' | 'esim_not_ready' | 'state_conflict' | 'endpoint_limit_reached' | 'install_link_limit_reached' | 'api_key_limit_reached' | 'core_not_connected' | 'body_too_large' | 'content_type_unsupported' | 'rate_limited' | 'execution_limit_reached' | 'batch_limit_reached' | 'stream_limit_reached' | 'headers_too_large' | 'internal' | 'unavailable';
      /** Only requests of this operation, by its id in the reference. */
      operation?: string;
      /** Only requests that reached the server this way: `api` leaves out those of the dashboard and of agents. */
      via?: 'api' | 'dashboard' | 'agent';
      /** Only requests after this time. Unix time in seconds. */
      'created[gt]'?: number;
      /** Only requests at or after this time. Unix time in seconds. */
      'created[gte]'?: number;
      /** Only requests before this time. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only requests at or before this time. Unix time in seconds. */
      'created[lte]'?: number;
    };
    result: Page<RequestLogEntry>;
  };
  /** Returns the request with this `Request-Id`: how it ended, its error and what to do about it. It appears within a second and is kept for seven days. */
  getRequest: {
    params: {
      /** The `Request-Id` of a response (`req_…`). */
      id: string;
    };
    result: RequestLogEntry;
  };
  /** Returns the current rates, the backlogs and their age, and the progress of the orders of the last day, across all accounts. Workers count orders in the background, with a delay of a second or two. With several cells, counts and rates are the sums of those that answered, ages the highest; `median_ms` and `p95_ms` are those of the slowest cell, which those of all orders never exceed. */
  getOperatorOverview: {
    query: {
      /** `own`: only of the cell that gets the request. Omitted: of all cells that it knows. */
      cells?: 'own';
    };
    result: OperatorOverview;
  };
  /** Finds in all accounts what belongs to an id (of an account, event, execution, webhook endpoint, delivery, bundle, recovery, request, audit entry, API key or product), an ICCID or its last digits (at least four), or the `reference` of an order. Returns one page. With several cells, of all that answered; `cells` says which. */
  searchAccounts: {
    query: {
      /** An id, an ICCID or its last digits, or a reference: complete, not the start of one. */
      q: string;
      /** How many results to return at most. Values above 100 are treated as 100. */
      limit?: number;
      /** `own`: only of the cell that gets the request. Omitted: of all cells that it knows. */
      cells?: 'own';
    };
    result: Page<{
      /** Id, ICCID, name or idempotency key. */
      id: string;
      object: 'search_result';
      /** What was found. */
      type: 'esim' | 'execution' | 'batch' | 'event' | 'webhook_endpoint' | 'delivery' | 'bundle' | 'recovery' | 'request' | 'audit_entry' | 'api_key' | 'account' | 'product' | 'event_consumer' | 'idempotency_key';
      /** A short description. */
      title: string;
      /** Path of the operation that returns it, or the list that contains it; null for an idempotency key whose request created nothing. */
      path: string | null;
      /** When it was created. Unix time in seconds. */
      created: number;
      /** Account to which it belongs; null for a product, which belongs to none. */
      account_id: string | null;
      /** Name of that account. */
      account_name: string | null;
      /** Mode of this deployment. */
      mode: 'sandbox' | 'live';
      /** With several cells: the one that has it. `path` is read there; null for the cell without a label. */
      cell?: string | null;
    }> & {
      /** The cells that were asked, this one first. What one that has not answered has is missing here. Absent if this deployment knows no other cell (`SIMPLANE_CELLS`). */
      cells?: Array<{
        /** Label of the cell; null for the cell without a label. */
        cell: string | null;
        /** Whether the answer includes what this cell has. */
        answered: boolean;
        /** Why not. `timeout`: no answer within 3 seconds. `unreachable`: no connection, or it was cut. `key_refused`: the cell does not accept the key in `SIMPLANE_CELLS`. `failed`: it answered with an error. `invalid_answer`: it answered with something else. */
        cause?: 'timeout' | 'unreachable' | 'key_refused' | 'failed' | 'invalid_answer';
      }>;
    };
  };
  /** For other cells: takes the usage records and the notification of the SM-DP+ whose eSIMs are in this cell, and says which are not. Passes nothing on. Rejected records are not kept here but in the cell that they were reported to. */
  takeObservations: {
    body: {
      /** Usage records, as in `POST /v1/usage_records`. */
      usage_records?: Array<{
        /** Your id for the record, unique per eSIM. A record that was counted is not counted again. */
        record_id: string;
        /** ICCID of the eSIM: 18 to 20 digits. */
        iccid: string;
        /** Bytes used, upload and download combined. */
        bytes: number;
        /** When the data was used. At most five minutes ahead; a time in the future counts as now, one before the order of the eSIM as the time of the order. Records from more than 35 days ago, or what the operator has set, are rejected. Unix time in seconds. */
        at: number;
        /** Country where the eSIM was attached, as an ISO 3166-1 alpha-2 code. It decides which bundles cover the usage; if omitted, the last known country counts. */
        country?: string;
        /** `record_id` of an earlier record of this eSIM that this one replaces. The earlier amount no longer counts. Events that were sent are neither taken back nor repeated. */
        corrects?: string;
      }>;
      /** A notification of the SM-DP+ about a profile. */
      profile?: {
        /** ICCID of the eSIM: 18 to 20 digits. */
        iccid: string;
        /** State of the profile on the device. */
        state: 'downloaded' | 'installed' | 'enabled' | 'disabled' | 'deleted' | 'error';
        /** When the SM-DP+ saw it. Unix time in milliseconds. */
        at_ms: number;
        /** EID of the device. */
        eid?: string;
        /** With the state `error`: what failed, and why. */
        failure?: {
          /** What the device could not do. */
          step: 'download' | 'install';
          /** Why the last download or installation failed. */
          error: {
            /** Reason, from a closed list. */
            code: 'activation_code_refused' | 'confirmation_code_refused' | 'device_memory_full' | 'device_not_eligible' | 'device_not_trusted' | 'device_refused' | 'download_expired' | 'profile_not_available' | 'other';
            /** The cause and what to do about it. */
            message: string;
            /** The network’s own codes (SGP.22): `subject_code`, `reason_code`, `notification_point_id`. */
            upstream: Record<string, string>;
          };
        };
      };
    };
    result: {
      object: 'observations';
      /** Label of this cell; null for the cell without a label. */
      cell: string | null;
      /** What became of each record, in the order of the request. `accepted`: counted. `duplicate`: counted before, or repeated within the request. `esim_unknown`: no eSIM has this ICCID. `esim_not_ready`: the eSIM is still provisioning, or may be in another cell that did not answer; report the record again later. `esim_ended`: the eSIM failed, or was terminated before `at`. `too_old`: `at` is longer ago than the operator’s `SIMPLANE_USAGE_MAX_AGE` (35 days), so the record may have been counted and forgotten. `record_unknown`: no record with the id in `corrects` was counted for this eSIM; report it first. `already_corrected`: another record has replaced the one in `corrects`; correct that one. `esim_unknown` here means that this cell does not have the eSIM, and `esim_not_ready` also that its account is leaving. */
      usage_records?: Array<'accepted' | 'duplicate' | 'esim_unknown' | 'esim_not_ready' | 'esim_ended' | 'too_old' | 'record_unknown' | 'already_corrected'>;
      /** What became of the notification. `esim_unknown`: this cell does not have the eSIM. `esim_not_ready`: its account is leaving; send it again. */
      profile?: 'accepted' | 'esim_unknown' | 'esim_not_ready';
    };
  };
  /** Creates an account without keys. Create its first key with `POST /v1/operator/accounts/{id}/api_keys`. */
  createAccount: {
    body: {
      /** Its name. */
      name: string;
      /** Maximum number of webhook endpoints; null: the deployment’s limit. */
      max_webhook_endpoints?: number | null;
      /** Maximum number of queued and running executions; null: no limit. */
      max_open_executions?: number | null;
      /** Requests per second of all its keys together, in each process, with a burst of twice that; null: the deployment’s limit per key. */
      requests_per_second?: number | null;
    };
    result: Account;
  };
  /** Returns the accounts of the deployment. */
  listAccounts: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Account>;
  };
  /** Returns an account with its status and limits. */
  getAccount: {
    params: {
      /** Id of the account (`acct_…`). */
      id: string;
    };
    result: Account;
  };
  /** Changes the given fields only, on every process within 5 seconds. `status: "suspended"` refuses the account’s writes, except that it may revoke keys; its open orders and deliveries continue. A null limit restores the default. A closed account cannot be changed. */
  updateAccount: {
    params: {
      /** Id of the account (`acct_…`). */
      id: string;
    };
    body: {
      /** Its name. */
      name?: string;
      /** Suspends or reactivates the account. */
      status?: 'active' | 'suspended';
      /** Maximum number of webhook endpoints; null: the deployment’s limit. */
      max_webhook_endpoints?: number | null;
      /** Maximum number of queued and running executions; null: no limit. */
      max_open_executions?: number | null;
      /** Requests per second of all its keys together, in each process, with a burst of twice that; null: the deployment’s limit per key. */
      requests_per_second?: number | null;
    };
    result: Account;
  };
  /** Revokes its keys, signs its sessions out, disables its webhook endpoints and ends its install links, on every process within 5 seconds. Orders that have not reached the network are canceled; others go to their end. With `terminate_esims` its eSIMs are terminated then, a few at a time; `closing` shows how far it has come. A closed account is not opened again; operators can read it with `Service-Account`, and erase it. Closing it again changes nothing, except that `terminate_esims` can be added. */
  closeAccount: {
    params: {
      /** Id of the account (`acct_…`). */
      id: string;
    };
    query: {
      /** Whether to terminate its eSIMs. This cannot be undone. */
      terminate_esims?: boolean;
    };
    result: Account;
  };
  /** Removes what `POST /v1/esims/{iccid}/erase` removes, of every eSIM and order of the account, and its name, branding, webhook endpoints, consumers, request log, names and networks of its keys, and the addresses and values in its audit log. The account must have been closed with `terminate_esims`; erasing begins when the closing is finished. Sums and who did what when stay. This cannot be undone: export what you need first. Erasing it again returns the same erasure. */
  eraseAccount: {
    params: {
      /** Id of the account (`acct_…`). */
      id: string;
    };
    result: {
      id: string;
      object: 'erasure';
      /** What is erased. */
      target: {
        type: 'esim' | 'account';
        /** ICCID of the eSIM, or id of the account. */
        id: string;
      };
      status: 'pending' | 'finished';
      /** When it was requested. Unix time in seconds. */
      requested_at: number;
      /** When the personal data was gone; null until then. Unix time in seconds. */
      finished_at: number | null;
    };
  };
  /** Returns whether the personal data of the account is gone. 404 if it was never asked for. */
  getAccountErasure: {
    params: {
      /** Id of the account (`acct_…`). */
      id: string;
    };
    result: {
      id: string;
      object: 'erasure';
      /** What is erased. */
      target: {
        type: 'esim' | 'account';
        /** ICCID of the eSIM, or id of the account. */
        id: string;
      };
      status: 'pending' | 'finished';
      /** When it was requested. Unix time in seconds. */
      requested_at: number;
      /** When the personal data was gone; null until then. Unix time in seconds. */
      finished_at: number | null;
    };
  };
  /** The response contains the key. Only a retry with the same `Idempotency-Key` returns it again. The account sees that the operator created it. */
  createAccountApiKey: {
    params: {
      /** Id of the account (`acct_…`). */
      id: string;
    };
    body: {
      /** A name to recognize the key by. */
      name?: string;
      /** What the key may do. A key can only give scopes that it has itself. In live mode only the operator gives `network`. */
      scopes: Array<'read' | 'write' | 'network' | 'admin' | 'install'>;
      /** Networks the key may be used from, in CIDR notation: IPv4 or IPv6, up to 20. Empty: from anywhere. A key with networks gives only networks within its own, and its own if a new key has none. */
      allowed_cidrs?: string[];
      /** When the key stops working, in the future; null if it does not expire. Unix time in seconds. A key gives none that is later than its own, and its own if a new key has none. */
      expires_at?: number | null;
    };
    result: ApiKey;
  };
  /** Returns the account’s keys, also those that expired or were revoked. */
  listAccountApiKeys: {
    params: {
      /** Id of the account (`acct_…`). */
      id: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<ApiKey>;
  };
  /** Every process refuses the key within 5 seconds. It stays in the list with `revoked_at`; revoking it again changes nothing. An operator may revoke an account’s last key. */
  deleteAccountApiKey: {
    params: {
      /** Id of the account (`acct_…`). */
      id: string;
      /** Id of the key (`key_…`). */
      key_id: string;
    };
    result: {
      id: string;
      object: 'api_key';
      /** Always `true`. */
      deleted: boolean;
    };
  };
  /** Returns executions of all accounts with their steps and call ids. */
  listAllExecutions: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only executions in this status. */
      status?: 'queued' | 'running' | 'succeeded' | 'failed';
      /** Only failed executions with this `error.code`. */
      error_code?: 'declined' | 'out_of_stock' | 'network_unavailable' | 'outcome_unknown' | 'state_conflict' | 'product_missing' | 'canceled' | 'superseded' | 'internal';
      /** Only executions of this account. */
      account_id?: string;
      /** Only executions that were accepted at least this many seconds ago. */
      older_than?: number;
    };
    result: Page<OperatorExecution>;
  };
  /** Returns an execution with its steps, call ids, last error and resolution. */
  getAnyExecution: {
    params: {
      /** Id of the execution (`exec_…`). */
      id: string;
    };
    result: OperatorExecution;
  };
  /** For a failed execution, starts a new one with the same request and returns it, with `retry_of`; the failed one stays failed. A waiting execution becomes due now and is returned itself. An execution can be retried once; if the new one fails too, retry that. Refused while the outcome is unknown: resolve it first. */
  retryExecution: {
    params: {
      /** Id of the execution (`exec_…`). */
      id: string;
    };
    result: OperatorExecution;
  };
  /** Records what happened to an execution that failed with `outcome_unknown`. Look up its call id at the SM-DP+ first. The execution stays failed. With `adopt`, a new execution continues with the reserved profile, without a second order. With `cancel`, a worker cancels the profile at the SM-DP+. A resolution is final. */
  resolveExecution: {
    params: {
      /** Id of the execution (`exec_…`). */
      id: string;
    };
    body: {
      /** What the SM-DP+ did: reserved a profile, or not. */
      outcome: 'reserved' | 'not_reserved';
      /** ICCID of the reserved profile. Required with `reserved`. */
      iccid?: string;
      /** What to do with the reserved profile. Required with `reserved`. `adopt`: a new execution continues with it. `cancel`: it is canceled at the SM-DP+. */
      then?: 'adopt' | 'cancel';
    };
    result: OperatorExecution;
  };
  /** Groups the failed executions that nobody has retried or resolved, and those that wait after a failure, by code, network and the network’s own code. Returns up to 100 groups, the largest first. */
  listFailureGroups: {
    result: Page<FailureGroup>;
  };
  /** Retries one execution of the group first, and the others only after it has succeeded. Executions that join the group later are not retried. Refused while an earlier retry of the group is running, and for `outcome_unknown`. */
  retryFailureGroup: {
    params: {
      /** Id of the group (`fg_…`). */
      id: string;
    };
    result: FailureGroup;
  };
  /** Returns the events of all accounts oldest first, each once and without gaps, with `account_id` in front. It has an order and cursors of its own; those of an account’s feed are refused. With `wait`, the response waits for an event if there is none yet. With `Accept: text/event-stream`, the events arrive as a stream of server-sent events whose `id` is the cursor; `Last-Event-ID` resumes it. */
  readOperatorEventFeed: {
    query: {
      /** Where to begin: a cursor, `start` (the oldest event kept) or `now`. */
      after?: string;
      /** Instead of `after`: begin with the first event created at or after this time. Unix time in seconds. */
      since?: number;
      /** Instead of `after` and `type`: begin at the place of this consumer, with its event types. */
      consumer?: string;
      /** Maximum number of events to return. Streams ignore it. */
      limit?: number;
      /** How many seconds to wait for an event if there is none yet. */
      wait?: number;
      /** Only events of this type, or of a family such as `esim.*`. Separate several by commas. */
      type?: string | string[];
    };
    result: {
      object: 'event_feed';
      /** Events after `after`, oldest first. */
      data: Array<{
        /** The account it happened in; null if it is about the deployment, such as one of its webhook endpoints. */
        account_id: string | null;
        id: string;
        type: string;
        object: 'event';
        /** When the event happened. Unix time in seconds. */
        created: number;
        /** Correlation ids and little else. Fetch the current state from the API. */
        data: Record<string, unknown>;
      }>;
      /** Your place after these events. Send it as `after` in the next call. Always present. */
      cursor: string;
      /** Whether there are no more events yet. */
      caught_up: boolean;
    };
  };
  /** Creates a consumer of the operator’s feed at the place `after`. If one with this name exists, returns it unchanged. The deployment can have 100, apart from the accounts’ own. */
  putOperatorEventConsumer: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    body: {
      /** Where to begin: a cursor, `start` (the oldest event kept) or `now`. */
      after?: string;
      /** Event types to read: names, or families such as `esim.*`. All if omitted. */
      type?: string[];
    };
    result: EventConsumer;
  };
  /** Returns the consumers of the operator’s feed by name, and how far behind each one is. */
  listOperatorEventConsumers: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<EventConsumer>;
  };
  /** Returns a consumer of the operator’s feed and how far behind it is. */
  getOperatorEventConsumer: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    result: EventConsumer;
  };
  /** Deletes the consumer and its place in the operator’s feed. No events are deleted. */
  deleteOperatorEventConsumer: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    result: {
      name: string;
      object: 'event_consumer';
      /** Always `true`. */
      deleted: boolean;
    };
  };
  /** Moves the consumer forward to `cursor`. A cursor behind its place is refused: another program is using the same name. */
  acknowledgeOperatorEvents: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    body: {
      /** The `cursor` that you received with the last event you have processed. */
      cursor: string;
    };
    result: EventConsumer;
  };
  /** Moves the consumer to any place of the operator’s feed, back or forward. */
  seekOperatorEventConsumer: {
    params: {
      /** Name of the consumer. */
      name: string;
    };
    body: {
      /** Where to begin: a cursor, `start` (the oldest event kept) or `now`. */
      after: string;
    };
    result: EventConsumer;
  };
  /** It gets the events of all accounts that come into the operator’s feed from now on, each with `account_id` in front. The response contains the signing secret. Only a retry with the same `Idempotency-Key` returns it again. The deployment can have 50. */
  createOperatorWebhookEndpoint: {
    body: {
      /** URL that receives deliveries. Live mode accepts only public `https` URLs. */
      url: string;
      /** Event types to deliver: names, families such as `esim.*`, or `["*"]` for all. */
      enabled_event_types: string[];
      /** Your own note, up to 500 characters; null for none. */
      description?: string | null;
      /** `none`: every event is sent immediately. `esim`: an event of an eSIM is sent only after the deliveries of that eSIM’s earlier events have ended, in the order of the event feed. A change applies to new deliveries. */
      ordering?: 'none' | 'esim';
      /** Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500. Null or an empty value removes a key. */
      metadata?: Record<string, string | null>;
    };
    result: WebhookEndpoint;
  };
  /** Returns the deployment’s endpoints, without their secrets. Those of accounts: `GET /v1/operator/endpoint_health`. */
  listOperatorWebhookEndpoints: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<WebhookEndpoint>;
  };
  /** Returns an endpoint of the deployment. If Simplane disabled it, `disabled_reason` says what to fix. */
  getOperatorWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    result: WebhookEndpoint;
  };
  /** Changes the given fields only. `metadata` is merged; null removes a key. `status: "disabled"` stops deliveries, `"enabled"` continues them from where they stopped. */
  updateOperatorWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    body: {
      /** URL that receives deliveries. Live mode accepts only public `https` URLs. */
      url?: string;
      /** Event types to deliver: names, families such as `esim.*`, or `["*"]` for all. */
      enabled_event_types?: string[];
      /** Your own note, up to 500 characters; null for none. */
      description?: string | null;
      /** `none`: every event is sent immediately. `esim`: an event of an eSIM is sent only after the deliveries of that eSIM’s earlier events have ended, in the order of the event feed. A change applies to new deliveries. */
      ordering?: 'none' | 'esim';
      /** Your own key-value pairs, such as order ids: up to 20 keys of up to 40 characters, values up to 500. Null or an empty value removes a key. */
      metadata?: Record<string, string | null>;
      /** Stops or resumes deliveries. */
      status?: 'enabled' | 'disabled';
    };
    result: WebhookEndpoint;
  };
  /** Deletes the endpoint and cancels its pending deliveries. */
  deleteOperatorWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    result: {
      id: string;
      object: 'webhook_endpoint';
      /** Always `true`. */
      deleted: boolean;
    };
  };
  /** Continues with the event after the last one that was queued for it: nothing of the time in between is missed. Use `recover` for deliveries that failed or were canceled. */
  enableOperatorWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    result: WebhookEndpoint;
  };
  /** Returns a new secret. Deliveries are signed with both secrets until the old one expires. */
  rotateOperatorWebhookSecret: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    body: {
      /** Seconds until the old secret expires. Defaults to one day; at most one week. */
      expires_in?: number;
    };
    result: WebhookEndpoint;
  };
  /** Sends one signed test request now and returns what happened, also if the endpoint is disabled. It never counts as a failure. */
  probeOperatorWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    result: WebhookProbe;
  };
  /** Returns attempts and their durations per hour. */
  getOperatorEndpointStats: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Length of the period in hours, including the current one. */
      hours?: number;
    };
    result: WebhookEndpointStats;
  };
  /** Counts deliveries that failed or were canceled, by type and day. `recover` sends them. */
  getOperatorUndelivered: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Only events of this type, or of a family such as `esim.*`. Separate several by commas. */
      type?: string | string[];
      /** Only events after this time. Unix time in seconds. */
      'created[gt]'?: number;
      /** Only events at or after this time. Unix time in seconds. */
      'created[gte]'?: number;
      /** Only events before this time. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only events at or before this time. Unix time in seconds. */
      'created[lte]'?: number;
    };
    result: {
      object: 'undelivered';
      webhook_endpoint_id: string;
      /** How many events are undelivered. */
      event_count: number;
      /** When the oldest of them happened; null if there is none. Unix time in seconds. */
      oldest: number | null;
      /** By event type, the most frequent first. */
      types: Array<{
        type: string;
        count: number;
      }>;
      /** By the day on which they happened, oldest first. */
      days: Array<{
        /** A day of UTC. */
        day: string;
        count: number;
        /** By event type, the most frequent first. */
        types: Array<{
          type: string;
          count: number;
        }>;
      }>;
      /** Whether counting stopped at 10,000. It begins with the oldest events. */
      capped: boolean;
    };
  };
  /** Delivers again what failed or was canceled. With `since`, only what is not older. */
  recoverOperatorWebhookEndpoint: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    body: {
      /** Start of the period to recover, not in the future. Unix time in seconds. */
      since?: number;
      /** Only events before this time. Unix time in seconds. */
      until?: number;
      /** Only events of these types, or of families such as `esim.*`. */
      types?: string[];
      /** Returns a `RecoveryPreview` and changes nothing. */
      dry_run?: boolean;
    };
    result: Recovery | RecoveryPreview;
  };
  /** Returns the endpoint’s recoveries, newest first. */
  listOperatorEndpointRecoveries: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Recovery>;
  };
  /** Returns how far a recovery is. */
  getOperatorRecovery: {
    params: {
      /** Id of the recovery (`rec_…`). */
      id: string;
    };
    result: Recovery;
  };
  /** Returns the deliveries to an endpoint of the deployment, newest first. */
  listOperatorEndpointDeliveries: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only deliveries in this status. */
      status?: 'pending' | 'succeeded' | 'failed' | 'canceled';
    };
    result: Page<Delivery>;
  };
  /** Returns single attempts, those of the newest delivery first. */
  listOperatorEndpointAttempts: {
    params: {
      /** Id of the endpoint (`we_…`). */
      id: string;
    };
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only attempts with this outcome. */
      outcome?: 'succeeded' | 'failed';
    };
    result: Page<DeliveryAttempt>;
  };
  /** Returns a delivery and its attempts. */
  getOperatorDelivery: {
    params: {
      /** Id of the delivery (`dlv_…`). */
      id: string;
    };
    result: Delivery;
  };
  /** Sends a pending delivery now. For a failed or canceled one it queues a new delivery and returns that. */
  retryOperatorDelivery: {
    params: {
      /** Id of the delivery (`dlv_…`). */
      id: string;
    };
    result: Delivery;
  };
  /** Cancels a pending delivery. On an ordered endpoint, the deliveries that wait for it go on. */
  skipOperatorDelivery: {
    params: {
      /** Id of the delivery (`dlv_…`). */
      id: string;
    };
    result: Delivery;
  };
  /** Returns the webhook endpoints of all accounts, with the backlog of each. */
  listEndpointHealth: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only endpoints with this status. */
      status?: 'enabled' | 'disabled';
      /** Only endpoints whose last attempt failed (`true`), or only others (`false`). */
      failing?: boolean;
    };
    result: Page<EndpointHealth>;
  };
  /** Returns the systems that the running workers call: each SM-DP+ and core, or the mock of a sandbox. Workers connect to each every 30 seconds, even when there is no work. */
  listNetworks: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Network>;
  };
  /** Returns the ranges in the workers’ `SIMPLANE_ICCID_RANGES`, how much of each is used, and how long it lasts. Empty if the SM-DP+ chooses the ICCIDs, and in a sandbox without ranges. */
  listIccidRanges: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<IccidRange>;
  };
  /** Returns every product of the catalog, including unlisted and inactive ones. */
  listCatalogProducts: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<CatalogProduct>;
  };
  /** Returns a product with its `profile_type` and whether it is listed. */
  getCatalogProduct: {
    params: {
      /** Id of the product. */
      id: string;
    };
    result: CatalogProduct;
  };
  /** Writes the whole product, as `simplane-server catalog import` does: fields that are left out get their defaults. In live mode an active product needs a `profile_type`, unless the workers choose ICCIDs from ranges of yours. Orders that are open keep the profile type of their first attempt. */
  putCatalogProduct: {
    params: {
      /** Id of the product. */
      id: string;
    };
    body: {
      /** Name, as accounts see it. */
      name: string;
      /** Countries where the plan works, as ISO 3166-1 alpha-2 codes. */
      countries: string[];
      /** Data allowance in bytes; null means unlimited. */
      data_bytes: number | null;
      /** Days the data is valid, counted from the activation of its bundle. */
      validity_days: number;
      /** Price, as accounts see it. */
      price: {
        /** Price in the currency’s minor unit, such as cents. */
        amount: number;
        /** ISO 4217 code in lowercase. */
        currency: string;
      };
      /** Generations of mobile networks that the plan includes. */
      speeds: Array<'3G' | '4G' | '5G'>;
      /** Whether the product can be ordered. */
      active?: boolean;
      /** Whether accounts find the product in `GET /v1/products`. An unlisted one can be ordered by its id. */
      listed?: boolean;
      /** The SM-DP+’s name for the product’s profiles. Accounts do not see it. */
      profile_type?: string | null;
      /** What the network does with an eSIM whose data is used up, if it has no other bundle there. */
      after_depletion?: {
        /** `bar`: no more data. `throttle`: limited to `kbps` until the bundle’s validity ends. `none`: full service until then. */
        action: 'bar' | 'throttle' | 'none';
        /** Speed limit in kbit/s; only for `throttle`. */
        kbps?: number | null;
      };
    };
    result: CatalogProduct;
  };
  /** The product can no longer be ordered, and `GET /v1/products` no longer lists it. Accepted orders continue. To sell it again, put it with `active: true`. */
  deactivateProduct: {
    params: {
      /** Id of the product. */
      id: string;
    };
    result: CatalogProduct;
  };
  /** Returns the running processes. One that stops cleanly leaves the list at once; one that was killed, or cannot reach the database, within 30 seconds. */
  listProcesses: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Process>;
  };
  /** Returns the usage records that were rejected in the last 90 days, of all reporting keys. A record that was rejected and counted later stays in the list. */
  listRejectedUsage: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only records of this eSIM. */
      iccid?: string;
    };
    result: Page<{
      object: 'rejected_usage';
      /** Account of the key that reported it. */
      account_id: string;
      /** Id of the record. */
      record_id: string;
      /** ICCID of the eSIM: 18 to 20 digits. */
      iccid: string;
      /** Bytes used. */
      bytes: number;
      /** When the data was used, as reported. Unix time in seconds. */
      at: number;
      /** ISO 3166-1 alpha-2 code, if one was reported. */
      country: string | null;
      /** Id of the record that it should replace. */
      corrects: string | null;
      /** `esim_unknown`: no eSIM has this ICCID. `esim_not_ready`: the eSIM is still provisioning, or may be in another cell that did not answer; report the record again later. `esim_ended`: the eSIM failed, or was terminated before `at`. `too_old`: `at` is longer ago than the operator’s `SIMPLANE_USAGE_MAX_AGE` (35 days), so the record may have been counted and forgotten. `record_unknown`: no record with the id in `corrects` was counted for this eSIM; report it first. `already_corrected`: another record has replaced the one in `corrects`; correct that one. */
      reason: 'esim_unknown' | 'esim_not_ready' | 'esim_ended' | 'too_old' | 'record_unknown' | 'already_corrected';
      /** When it was rejected last for this reason. Unix time in seconds. */
      created: number;
    }>;
  };
  /** Returns the eSIMs of all accounts whose newest state the operator’s core has not confirmed, one entry per eSIM. */
  listServiceChanges: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Which of them. `pending`: it is being sent, or sent again. `refused`: the core refused it, and it is not sent again until the eSIM changes or the core is resynced. */
      state?: 'pending' | 'refused';
    };
    result: Page<ServiceChange>;
  };
  /** For a core that was restored from a backup, or that refused states which it now accepts. Workers calculate the state of each eSIM again and queue it, some hundred at a time, while others are sent. A version that the core had has the same body as before. A resync that is running starts again. */
  resyncCore: {
    result: CoreResync;
  };
  /** Returns who is signed in to the dashboard with operators’ keys. An account’s sessions: `GET /v1/sessions` with `Service-Account`. */
  listOperatorSessions: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Session>;
  };
  /** Signs the session out on every process, and ends its open streams within 5 seconds. */
  deleteOperatorSession: {
    params: {
      /** Id of the session (`sess_…`). */
      id: string;
    };
    result: {
      id: string;
      object: 'session';
      /** Always `true`. */
      deleted: boolean;
    };
  };
  /** Returns the entries of all accounts and of the deployment: what accounts’ keys, operators’ keys and the server’s command line did. */
  listOperatorAuditLog: {
    query: {
      /** Page size. Values above 100 are treated as 100. You can change it between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** Only entries that concern this account. */
      account_id?: string;
      /** Only entries by the key with this id, or by the `command_line`. */
      actor?: string;
      /** Only entries with this action. */
      action?: 'api_key.created' | 'api_key.updated' | 'api_key.rolled' | 'api_key.revoked' | 'webhook_endpoint.created' | 'webhook_endpoint.updated' | 'webhook_endpoint.enabled' | 'webhook_endpoint.deleted' | 'webhook_endpoint.secret_rotated' | 'webhook_endpoint.recovery_started' | 'webhook_endpoint.probed' | 'event.test_sent' | 'event.replayed' | 'delivery.retried' | 'delivery.skipped' | 'event_consumer.created' | 'event_consumer.acknowledged' | 'event_consumer.moved' | 'event_consumer.deleted' | 'esim.ordered' | 'esim.updated' | 'esim.suspension_ordered' | 'esim.resumption_ordered' | 'esim.termination_ordered' | 'esim.top_up_ordered' | 'esim.bundle_canceled' | 'esim.simulated' | 'esim.install_profile_viewed' | 'esim.erasure_requested' | 'batch.created' | 'batch.canceled' | 'esim.install_link_created' | 'install_link.revoked' | 'install_link.viewed' | 'branding.updated' | 'batch.install_profiles_viewed' | 'usage.reported' | 'account.created' | 'account.updated' | 'account.closed' | 'account.erasure_requested' | 'account.frozen' | 'account.move_started' | 'account.move_undone' | 'account.moved' | 'account.viewed' | 'execution.canceled' | 'execution.retried' | 'execution.resolved' | 'failure_group.retried' | 'core.resync_started' | 'product.updated' | 'product.deactivated' | 'secret.shown_again' | 'session.link_created' | 'session.started' | 'session.ended' | 'session.refused' | 'dashboard.write' | 'secrets.reseal_started';
      /** Only entries about the object with this id, or about the eSIM with this ICCID. */
      target?: string;
      /** Only entries after this time. Unix time in seconds. */
      'created[gt]'?: number;
      /** Only entries at or after this time. Unix time in seconds. */
      'created[gte]'?: number;
      /** Only entries before this time. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only entries at or before this time. Unix time in seconds. */
      'created[lte]'?: number;
    };
    result: Page<OperatorAuditEntry>;
  };
};

/** Method and path of every operation. */
export const endpoints = {
  getMe: ['GET', '/v1/me'],
  getOverview: ['GET', '/v1/overview'],
  search: ['GET', '/v1/search'],
  listProducts: ['GET', '/v1/products'],
  getProduct: ['GET', '/v1/products/{id}'],
  createEsim: ['POST', '/v1/esims'],
  listEsims: ['GET', '/v1/esims'],
  getEsim: ['GET', '/v1/esims/{iccid}'],
  updateEsim: ['PATCH', '/v1/esims/{iccid}'],
  getInstallProfile: ['GET', '/v1/esims/{iccid}/install'],
  createInstallLink: ['POST', '/v1/esims/{iccid}/install_links'],
  listInstallLinks: ['GET', '/v1/esims/{iccid}/install_links'],
  revokeInstallLink: ['DELETE', '/v1/esims/{iccid}/install_links/{id}'],
  getBranding: ['GET', '/v1/branding'],
  updateBranding: ['PATCH', '/v1/branding'],
  suspendEsim: ['POST', '/v1/esims/{iccid}/suspend'],
  resumeEsim: ['POST', '/v1/esims/{iccid}/resume'],
  terminateEsim: ['DELETE', '/v1/esims/{iccid}'],
  eraseEsim: ['POST', '/v1/esims/{iccid}/erase'],
  getEsimErasure: ['GET', '/v1/esims/{iccid}/erasure'],
  listTimeline: ['GET', '/v1/esims/{iccid}/timeline'],
  getEsimUsage: ['GET', '/v1/esims/{iccid}/usage'],
  listBundles: ['GET', '/v1/esims/{iccid}/bundles'],
  addBundle: ['POST', '/v1/esims/{iccid}/bundles'],
  cancelBundle: ['DELETE', '/v1/esims/{iccid}/bundles/{id}'],
  reportUsage: ['POST', '/v1/usage_records'],
  createBatch: ['POST', '/v1/batches'],
  listBatches: ['GET', '/v1/batches'],
  getBatch: ['GET', '/v1/batches/{id}'],
  cancelBatch: ['POST', '/v1/batches/{id}/cancel'],
  listBatchInstallProfiles: ['GET', '/v1/batches/{id}/install_profiles'],
  listExecutions: ['GET', '/v1/executions'],
  getExecution: ['GET', '/v1/executions/{id}'],
  cancelExecution: ['POST', '/v1/executions/{id}/cancel'],
  listEvents: ['GET', '/v1/events'],
  getEvent: ['GET', '/v1/events/{id}'],
  listEventTypes: ['GET', '/v1/event_types'],
  sendTestEvent: ['POST', '/v1/events/test'],
  replayEvent: ['POST', '/v1/events/{id}/replay'],
  replayEvents: ['POST', '/v1/events/replay'],
  listEventDeliveries: ['GET', '/v1/events/{id}/deliveries'],
  readEventFeed: ['GET', '/v1/events/feed'],
  putEventConsumer: ['PUT', '/v1/event_consumers/{name}'],
  listEventConsumers: ['GET', '/v1/event_consumers'],
  getEventConsumer: ['GET', '/v1/event_consumers/{name}'],
  deleteEventConsumer: ['DELETE', '/v1/event_consumers/{name}'],
  acknowledgeEvents: ['POST', '/v1/event_consumers/{name}/ack'],
  seekEventConsumer: ['POST', '/v1/event_consumers/{name}/seek'],
  createWebhookEndpoint: ['POST', '/v1/webhook_endpoints'],
  listWebhookEndpoints: ['GET', '/v1/webhook_endpoints'],
  getWebhookEndpoint: ['GET', '/v1/webhook_endpoints/{id}'],
  updateWebhookEndpoint: ['PATCH', '/v1/webhook_endpoints/{id}'],
  deleteWebhookEndpoint: ['DELETE', '/v1/webhook_endpoints/{id}'],
  enableWebhookEndpoint: ['POST', '/v1/webhook_endpoints/{id}/enable'],
  rotateWebhookSecret: ['POST', '/v1/webhook_endpoints/{id}/rotate_secret'],
  probeWebhookEndpoint: ['POST', '/v1/webhook_endpoints/{id}/probe'],
  getEndpointStats: ['GET', '/v1/webhook_endpoints/{id}/stats'],
  getUndelivered: ['GET', '/v1/webhook_endpoints/{id}/undelivered'],
  recoverWebhookEndpoint: ['POST', '/v1/webhook_endpoints/{id}/recover'],
  listEndpointRecoveries: ['GET', '/v1/webhook_endpoints/{id}/recoveries'],
  getRecovery: ['GET', '/v1/recoveries/{id}'],
  listEndpointDeliveries: ['GET', '/v1/webhook_endpoints/{id}/deliveries'],
  listEndpointAttempts: ['GET', '/v1/webhook_endpoints/{id}/attempts'],
  getDelivery: ['GET', '/v1/deliveries/{id}'],
  retryDelivery: ['POST', '/v1/deliveries/{id}/retry'],
  skipDelivery: ['POST', '/v1/deliveries/{id}/skip'],
  simulateEsim: ['POST', '/v1/sandbox/esims/{iccid}/simulate'],
  createApiKey: ['POST', '/v1/api_keys'],
  listApiKeys: ['GET', '/v1/api_keys'],
  getApiKey: ['GET', '/v1/api_keys/{id}'],
  updateApiKey: ['PATCH', '/v1/api_keys/{id}'],
  deleteApiKey: ['DELETE', '/v1/api_keys/{id}'],
  rollApiKey: ['POST', '/v1/api_keys/{id}/roll'],
  listSessions: ['GET', '/v1/sessions'],
  deleteSession: ['DELETE', '/v1/sessions/{id}'],
  listAuditLog: ['GET', '/v1/audit_log'],
  listRequests: ['GET', '/v1/requests'],
  getRequest: ['GET', '/v1/requests/{id}'],
  getOperatorOverview: ['GET', '/v1/operator/overview'],
  searchAccounts: ['GET', '/v1/operator/search'],
  takeObservations: ['POST', '/v1/operator/observations'],
  createAccount: ['POST', '/v1/operator/accounts'],
  listAccounts: ['GET', '/v1/operator/accounts'],
  getAccount: ['GET', '/v1/operator/accounts/{id}'],
  updateAccount: ['PATCH', '/v1/operator/accounts/{id}'],
  closeAccount: ['DELETE', '/v1/operator/accounts/{id}'],
  eraseAccount: ['POST', '/v1/operator/accounts/{id}/erase'],
  getAccountErasure: ['GET', '/v1/operator/accounts/{id}/erasure'],
  createAccountApiKey: ['POST', '/v1/operator/accounts/{id}/api_keys'],
  listAccountApiKeys: ['GET', '/v1/operator/accounts/{id}/api_keys'],
  deleteAccountApiKey: ['DELETE', '/v1/operator/accounts/{id}/api_keys/{key_id}'],
  listAllExecutions: ['GET', '/v1/operator/executions'],
  getAnyExecution: ['GET', '/v1/operator/executions/{id}'],
  retryExecution: ['POST', '/v1/operator/executions/{id}/retry'],
  resolveExecution: ['POST', '/v1/operator/executions/{id}/resolve'],
  listFailureGroups: ['GET', '/v1/operator/failure_groups'],
  retryFailureGroup: ['POST', '/v1/operator/failure_groups/{id}/retry'],
  readOperatorEventFeed: ['GET', '/v1/operator/events/feed'],
  putOperatorEventConsumer: ['PUT', '/v1/operator/event_consumers/{name}'],
  listOperatorEventConsumers: ['GET', '/v1/operator/event_consumers'],
  getOperatorEventConsumer: ['GET', '/v1/operator/event_consumers/{name}'],
  deleteOperatorEventConsumer: ['DELETE', '/v1/operator/event_consumers/{name}'],
  acknowledgeOperatorEvents: ['POST', '/v1/operator/event_consumers/{name}/ack'],
  seekOperatorEventConsumer: ['POST', '/v1/operator/event_consumers/{name}/seek'],
  createOperatorWebhookEndpoint: ['POST', '/v1/operator/webhook_endpoints'],
  listOperatorWebhookEndpoints: ['GET', '/v1/operator/webhook_endpoints'],
  getOperatorWebhookEndpoint: ['GET', '/v1/operator/webhook_endpoints/{id}'],
  updateOperatorWebhookEndpoint: ['PATCH', '/v1/operator/webhook_endpoints/{id}'],
  deleteOperatorWebhookEndpoint: ['DELETE', '/v1/operator/webhook_endpoints/{id}'],
  enableOperatorWebhookEndpoint: ['POST', '/v1/operator/webhook_endpoints/{id}/enable'],
  rotateOperatorWebhookSecret: ['POST', '/v1/operator/webhook_endpoints/{id}/rotate_secret'],
  probeOperatorWebhookEndpoint: ['POST', '/v1/operator/webhook_endpoints/{id}/probe'],
  getOperatorEndpointStats: ['GET', '/v1/operator/webhook_endpoints/{id}/stats'],
  getOperatorUndelivered: ['GET', '/v1/operator/webhook_endpoints/{id}/undelivered'],
  recoverOperatorWebhookEndpoint: ['POST', '/v1/operator/webhook_endpoints/{id}/recover'],
  listOperatorEndpointRecoveries: ['GET', '/v1/operator/webhook_endpoints/{id}/recoveries'],
  getOperatorRecovery: ['GET', '/v1/operator/recoveries/{id}'],
  listOperatorEndpointDeliveries: ['GET', '/v1/operator/webhook_endpoints/{id}/deliveries'],
  listOperatorEndpointAttempts: ['GET', '/v1/operator/webhook_endpoints/{id}/attempts'],
  getOperatorDelivery: ['GET', '/v1/operator/deliveries/{id}'],
  retryOperatorDelivery: ['POST', '/v1/operator/deliveries/{id}/retry'],
  skipOperatorDelivery: ['POST', '/v1/operator/deliveries/{id}/skip'],
  listEndpointHealth: ['GET', '/v1/operator/endpoint_health'],
  listNetworks: ['GET', '/v1/operator/networks'],
  listIccidRanges: ['GET', '/v1/operator/iccid_ranges'],
  listCatalogProducts: ['GET', '/v1/operator/products'],
  getCatalogProduct: ['GET', '/v1/operator/products/{id}'],
  putCatalogProduct: ['PUT', '/v1/operator/products/{id}'],
  deactivateProduct: ['POST', '/v1/operator/products/{id}/deactivate'],
  listProcesses: ['GET', '/v1/operator/processes'],
  listRejectedUsage: ['GET', '/v1/operator/rejected_usage'],
  listServiceChanges: ['GET', '/v1/operator/service_changes'],
  resyncCore: ['POST', '/v1/operator/core/resync'],
  listOperatorSessions: ['GET', '/v1/operator/sessions'],
  deleteOperatorSession: ['DELETE', '/v1/operator/sessions/{id}'],
  listOperatorAuditLog: ['GET', '/v1/operator/audit_log'],
} as const satisfies Record<keyof Operations, readonly [method: string, path: string]>;


// Generated from contract/ by `npm run generate`; edit there.

export const currentApiVersion = '2026-11-01';

export type ApiVersion = '2026-11-01';

export type ErrorType = 'invalid_request_error' | 'authentication_error' | 'permission_error' | 'idempotency_error' | 'rate_limit_error' | 'conflict_error' | 'api_error';

export type ErrorCode =
  | 'parameter_missing'
  | 'parameter_invalid'
  | 'parameter_unknown'
  | 'json_invalid'
  | 'cursor_invalid'
  | 'idempotency_key_invalid'
  | 'idempotency_key_reused'
  | 'api_version_unknown'
  | 'url_not_allowed'
  | 'request_malformed'
  | 'api_key_missing'
  | 'api_key_invalid'
  | 'api_key_expired'
  | 'api_key_wrong_mode'
  | 'scope_missing'
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
  | 'core_not_connected'
  | 'body_too_large'
  | 'content_type_unsupported'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal'
  | 'unavailable';

/** An amount of data on an eSIM, and how much of it is used. */
export type Bundle = {
  id: string;
  object: 'bundle';
  /** Identifies the eSIM. */
  iccid: string;
  /** What was bought. */
  product_id: string;
  /** Queued until the first attach, or until the one before it ends. */
  status: 'queued' | 'active' | 'depleted' | 'expired' | 'canceled';
  /** Included data; null means unlimited. */
  data_bytes: number | null;
  /** Counted once per usage record. */
  used_bytes: number;
  /** At which percentages `bundle.usage_threshold` is sent. */
  thresholds: number[];
  /** When it began to count. Unix time in seconds. */
  activated_at: number | null;
  /** When it ends at the latest. Unix time in seconds. */
  expires_at: number | null;
  /** The time of the newest usage record in `used_bytes`. Unix time in seconds. */
  as_of: number | null;
};

/** One event on its way to one endpoint. Replays make new ones. */
export type Delivery = {
  id: string;
  object: 'delivery';
  event_id: string;
  webhook_endpoint_id: string;
  status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  /** Why it was queued. */
  origin: 'event' | 'replay' | 'recovery' | 'retry';
  attempt_count: number;
  /** When it is tried next; null when it is settled. Unix time in seconds. */
  next_attempt_at: number | null;
  /** Every attempt, oldest first. */
  attempts: Array<{
    /** When it was sent. Unix time in seconds. */
    at: number;
    duration_ms: number;
    /** What the receiver answered; null when it did not. */
    status_code: number | null;
    /** Why it failed, when it did. */
    error: string | null;
    /** The first 1 kB of the answer; null for private addresses. */
    response: string | null;
  }>;
  /** When it was queued. Unix time in seconds. */
  created: number;
};

/** One eSIM profile. */
export type Esim = {
  /** Identifies the eSIM. */
  iccid: string;
  object: 'esim';
  /** How the eSIM stands with us: this is what counts. */
  status: 'provisioning' | 'provisioned' | 'active' | 'suspended' | 'terminated' | 'failed';
  /** What the network last saw of the profile on a device; it never changes `status`. */
  profile: {
    state: 'released' | 'downloaded' | 'installed' | 'enabled' | 'disabled' | 'deleted' | 'error' | 'unknown';
    /** When the network saw it. Unix time in seconds. */
    updated_at: number | null;
  };
  product_id: string;
  /** The device’s eUICC, when it is known. */
  eid: string | null;
  description: string | null;
  /** Your own ids and notes: up to 20 pairs, names up to 40 characters, values up to 500. */
  metadata: Record<string, string>;
  /** When its ICCID was allotted. Unix time in seconds. */
  created: number;
  /** When it became ready to install. Unix time in seconds. */
  provisioned_at: number | null;
};

/** Something that happened. Delivered by webhook exactly as it stands in the log. */
export type Event = {
  id: string;
  type: string;
  object: 'event';
  /** When it happened. Unix time in seconds. */
  created: number;
  /** Correlation ids and little else; fetch the current state from the API. */
  data: Record<string, unknown>;
};

export type EventType = {
  type: string;
  object: 'event_type';
  description: string;
  /** The fields that `data` may carry. */
  data: string[];
};

/** One asynchronous piece of work and how it stands. */
export type Execution = {
  id: string;
  object: 'execution';
  /** The same as `id`, named as in the data of events. */
  execution_id: string;
  /** What was asked for. */
  type: 'esim.provision' | 'esim.suspend' | 'esim.resume' | 'esim.terminate' | 'bundle.add';
  status: 'queued' | 'running' | 'succeeded' | 'failed';
  /** The product that was asked for. */
  product_id: string | null;
  /** The eSIM it is about; null until it is known. */
  iccid: string | null;
  /** Why it failed; present when `status` is `failed`. */
  error?: {
    /** Why, from a closed list. */
    code: 'declined' | 'out_of_stock' | 'network_unavailable' | 'outcome_unknown' | 'state_conflict' | 'product_missing' | 'internal';
    /** The cause and what to do about it. */
    message: string;
    /** Whether a new order may succeed. */
    retryable: boolean;
    /** What the network itself said. */
    upstream?: Record<string, string>;
  };
  /** How often the network was tried. */
  attempts: number;
  /** When it was accepted. Unix time in seconds. */
  created: number;
  /** When it succeeded or failed. Unix time in seconds. */
  finished_at: number | null;
};

/** Who the caller is. */
export type Identity = {
  object: 'identity';
  account: {
    id: string;
    name: string;
  };
  api_key: {
    id: string;
    name: string;
    scopes: Array<'read' | 'write' | 'network' | 'admin' | 'install'>;
    /** The last four characters of the key, to recognise it by. */
    last4: string;
    /** When the key was created. Unix time in seconds. */
    created: number;
  };
  /** What this deployment is. */
  mode: 'sandbox' | 'live';
  /** True when real networks and real money are involved. */
  livemode: boolean;
  /** The version this request was answered in. */
  api_version: string;
};

/** What an end user needs to install the eSIM. It is a secret. */
export type InstallProfile = {
  object: 'install_profile';
  /** Identifies the eSIM. */
  iccid: string;
  /** What the QR code holds. */
  lpa: string;
  /** The same without `LPA:`, for typing in by hand. */
  activation_code: string;
  smdp_address: string;
  matching_id: string;
  /** Whether the device will ask for a code as well. */
  confirmation_code_required: boolean;
  qr: {
    /** A data URI. */
    svg: string;
    /** A data URI. */
    png: string;
  };
  /** Installs without a QR code on iOS 17.4 and newer. */
  ios_install_url: string;
  /** Installs without a QR code where Android supports it. */
  android_install_url: string;
  /** As in the eSIM’s `profile.state`. */
  profile_state: 'released' | 'downloaded' | 'installed' | 'enabled' | 'disabled' | 'deleted' | 'error' | 'unknown';
};

/** A data plan that an eSIM can be provisioned with. */
export type Product = {
  id: string;
  object: 'product';
  name: string;
  /** Where it works: ISO 3166-1 alpha-2 codes. */
  countries: string[];
  /** Included data; null means unlimited. */
  data_bytes: number | null;
  /** How long the data lasts from the first attach. */
  validity_days: number;
  price: {
    /** In minor units (cents). */
    amount: number;
    /** ISO 4217 in lower case. */
    currency: string;
  };
  speeds: Array<'3G' | '4G' | '5G'>;
  /** Whether it can be provisioned now. */
  active: boolean;
  /** When it entered the catalog. Unix time in seconds. */
  created: number;
};

/** What became of a batch of usage records: `accepted`, `duplicates` and `rejected` add up to it. */
export type UsageRecordBatch = {
  object: 'usage_record_batch';
  /** Records that were counted now. */
  accepted: number;
  /** Records that had been counted before, or stand in this request more than once. */
  duplicates: number;
  /** Records that were not counted, for the reasons in `rejections`. */
  rejected: number;
  /** The first 100 of the rejected records. */
  rejections: Array<{
    /** Its place in `records`. */
    index: number;
    record_id: string;
    /** Identifies the eSIM. */
    iccid: string;
    /** `esim_unknown`: no eSIM has this ICCID. `esim_not_ready`: it is still provisioning; report the record again later. `esim_ended`: it was terminated or has failed. */
    reason: 'esim_unknown' | 'esim_not_ready' | 'esim_ended';
  }>;
};

/** A server of yours that is told what happens. */
export type WebhookEndpoint = {
  id: string;
  object: 'webhook_endpoint';
  /** Where deliveries are sent. */
  url: string;
  enabled_event_types: string[];
  description: string | null;
  /** Your own ids and notes: up to 20 pairs, names up to 40 characters, values up to 500. */
  metadata: Record<string, string>;
  status: 'enabled' | 'disabled';
  /** Present when we disabled it because it kept failing: what to fix. */
  disabled_reason?: string;
  /** Unix time in seconds. */
  disabled_at: number | null;
  /** What deliveries are signed with. In the answers to creation and rotation only. */
  secret?: string;
  api_version: string;
  /** When it was created. Unix time in seconds. */
  created: number;
};

/** A page of a list; `next_cursor` is there when another page exists. */
export type Page<Item> = { object: 'list'; data: Item[]; has_more: boolean; next_cursor?: string };

/** What `data` carries, by the type of the event. */
export type EventData = {
  /** The eSIM is ready to install. */
  'esim.provisioned': {
    iccid: string;
    execution_id: string;
    product_id: string;
  };
  /** The order failed for good; the execution says why. */
  'esim.provisioning_failed': {
    execution_id: string;
    product_id: string;
    error: {
      code: string;
      message: string;
    };
    iccid?: string;
  };
  /** The eSIM attached to a network for the first time. */
  'esim.activated': {
    iccid: string;
    product_id: string;
  };
  /** The eSIM was suspended. */
  'esim.suspended': {
    iccid: string;
    execution_id: string;
    product_id: string;
  };
  /** The eSIM was resumed. */
  'esim.resumed': {
    iccid: string;
    execution_id: string;
    product_id: string;
  };
  /** The eSIM was terminated. */
  'esim.terminated': {
    iccid: string;
    execution_id: string;
    product_id: string;
  };
  /** A device downloaded the profile. */
  'esim.downloaded': {
    iccid: string;
    product_id: string;
  };
  /** A device installed the profile. */
  'esim.installed': {
    iccid: string;
    product_id: string;
  };
  /** A device enabled the profile. */
  'esim.enabled': {
    iccid: string;
    product_id: string;
  };
  /** A device disabled the profile. */
  'esim.disabled': {
    iccid: string;
    product_id: string;
  };
  /** A device deleted the profile. */
  'esim.deleted': {
    iccid: string;
    product_id: string;
  };
  /** The eSIM attached in another country than before. */
  'esim.country_changed': {
    iccid: string;
    product_id: string;
    country: string;
    previous_country: string;
  };
  /** A bundle began to count; `execution_id` when an order made it begin. */
  'bundle.activated': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    expires_at: number;
    execution_id?: string;
  };
  /** A bundle’s usage reached a percentage; once per bundle and level, ascending. */
  'bundle.usage_threshold': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    threshold_percent: number;
    used_bytes: number;
    data_bytes: number | null;
  };
  /** A bundle’s data is used up. */
  'bundle.depleted': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    used_bytes: number;
    data_bytes: number | null;
  };
  /** A bundle’s time is over. */
  'bundle.expired': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    used_bytes: number;
    data_bytes: number | null;
  };
  /** An endpoint kept failing and was disabled; sent to the account’s other endpoints. */
  'webhook_endpoint.disabled': {
    webhook_endpoint_id: string;
    url: string;
    disabled_reason: string;
  };
  /** A bundle was canceled with its eSIM. */
  'bundle.canceled': {
    iccid: string;
    bundle_id: string;
    product_id: string;
    execution_id: string;
  };
};

/** Every operation: what it takes and what it answers. */
export type Operations = {
  /** Confirms that the key works, and tells its account, its scopes and the mode of the deployment. */
  getMe: {
    result: Identity;
  };
  /** The catalog: every product that is listed and active. */
  listProducts: {
    query: {
      /** Page size. Above 100 is treated as 100; it may change between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Product>;
  };
  /** One product by its id, also when it is unlisted or no longer active. */
  getProduct: {
    params: {
      /** The product’s `id`. */
      id: string;
    };
    result: Product;
  };
  /** Accepts the order durably and answers at once with an execution. Send an `Idempotency-Key`: a retry after a timeout then never orders twice. An `esim.provisioned` event follows. */
  createEsim: {
    body: {
      /** The `id` of a product. */
      product_id: string;
      /** Binds the profile to one device: its eUICC’s 32 digits. Left out: any device may install it. */
      eid?: string;
      /** A code that the device will ask its user for, to be told apart from the QR code. A secret: it is not shown again. */
      confirmation_code?: string;
      /** Your own ids and notes: up to 20 pairs, names up to 40 characters, values up to 500. */
      metadata?: Record<string, string>;
      description?: string;
    };
    result: Execution;
  };
  /** Every eSIM of the account. Install profiles are not in the list: they are secrets. */
  listEsims: {
    query: {
      /** Page size. Above 100 is treated as 100; it may change between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      status?: 'provisioning' | 'provisioned' | 'active' | 'suspended' | 'terminated' | 'failed';
      product_id?: string;
    };
    result: Page<Esim>;
  };
  /** One eSIM as it stands now. */
  getEsim: {
    params: {
      /** The eSIM’s ICCID. */
      iccid: string;
    };
    result: Esim;
  };
  /** The LPA string, its QR code and install links, once the eSIM is provisioned. With `Accept: image/png` or `image/svg+xml` the answer is the QR code itself. */
  getInstallProfile: {
    params: {
      /** The eSIM’s ICCID. */
      iccid: string;
    };
    result: InstallProfile;
  };
  /** Takes it off the network until it is resumed. An `esim.suspended` event follows. */
  suspendEsim: {
    params: {
      /** The eSIM’s ICCID. */
      iccid: string;
    };
    result: Execution;
  };
  /** Brings a suspended eSIM back to what it was. An `esim.resumed` event follows. */
  resumeEsim: {
    params: {
      /** The eSIM’s ICCID. */
      iccid: string;
    };
    result: Execution;
  };
  /** Ends it for good and cancels its bundles. An `esim.terminated` event follows. */
  terminateEsim: {
    params: {
      /** The eSIM’s ICCID. */
      iccid: string;
    };
    result: Execution;
  };
  /** What was bought for this eSIM and how much of it is used. */
  listBundles: {
    params: {
      /** The eSIM’s ICCID. */
      iccid: string;
    };
    query: {
      /** Page size. Above 100 is treated as 100; it may change between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Bundle>;
  };
  /** Adds a bundle. It begins when the eSIM has no other that is active, and waits in the queue until then. */
  addBundle: {
    params: {
      /** The eSIM’s ICCID. */
      iccid: string;
    };
    body: {
      /** The `id` of a product. */
      product_id: string;
      /** Percentages at which `bundle.usage_threshold` is sent; 50, 80 and 100 when left out. */
      thresholds?: number[];
    };
    result: Execution;
  };
  /** For the network that carries the eSIMs: counts data against their bundles, which causes the same events as anywhere. Each record counts once, however often and in however many requests it is sent, so a batch can always be sent again. A malformed record refuses the whole batch; an ICCID that is not known rejects its own records only. */
  reportUsage: {
    body: {
      /** In any order; they are counted in the order of `at`. */
      records: Array<{
        /** Yours, unique among the records of this eSIM: a record that was counted is not counted again. */
        record_id: string;
        /** Identifies the eSIM. */
        iccid: string;
        /** How much was used, in both directions together. */
        bytes: number;
        /** When it was used. Unix time in seconds. */
        at: number;
        /** Where the eSIM was attached: ISO 3166-1 alpha-2. */
        country?: string;
      }>;
    };
    result: UsageRecordBatch;
  };
  /** Everything the account asked for, with how it stands. */
  listExecutions: {
    query: {
      /** Page size. Above 100 is treated as 100; it may change between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      status?: 'queued' | 'running' | 'succeeded' | 'failed';
    };
    result: Page<Execution>;
  };
  /** How one piece of work stands. */
  getExecution: {
    params: {
      /** The `exec_…` id that the write answered with. */
      id: string;
    };
    result: Execution;
  };
  /** The event log. */
  listEvents: {
    query: {
      /** Page size. Above 100 is treated as 100; it may change between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      /** One type, or a family such as `esim.*`. */
      type?: string;
      /** Not before. Unix time in seconds. */
      'created[gte]'?: number;
      /** Before. Unix time in seconds. */
      'created[lt]'?: number;
      /** Only those with a delivery that failed, or that is still on its way. */
      delivery?: 'failed' | 'pending';
    };
    result: Page<Event>;
  };
  /** One event, byte for byte as it is delivered. */
  getEvent: {
    params: {
      /** The event’s `evt_…` id. */
      id: string;
    };
    result: Event;
  };
  /** Every type of event there is, with the fields of its data. */
  listEventTypes: {
    query: {
      /** Page size. Above 100 is treated as 100; it may change between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<EventType>;
  };
  /** Publishes an event of your making through the same path as real ones. Sandbox only. */
  sendTestEvent: {
    body: {
      /** Any well-formed name. */
      type: string;
      /** Delivered untouched. */
      data: Record<string, unknown>;
    };
    result: Event;
  };
  /** Delivers it again, same id and same bytes, to every endpoint that is enabled and subscribed now, or to the one that is named. */
  replayEvent: {
    params: {
      /** The event’s `evt_…` id. */
      id: string;
    };
    body: {
      /** Only to this one. */
      webhook_endpoint_id?: string;
    };
    result: {
      object: 'event_replay';
      event_id: string;
      deliveries: Delivery[];
    };
  };
  /** To whom the event was sent, and what came of it. */
  listEventDeliveries: {
    params: {
      /** The event’s `evt_…` id. */
      id: string;
    };
    query: {
      /** Page size. Above 100 is treated as 100; it may change between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<Delivery>;
  };
  /** The answer holds the signing secret: it is shown this once, and again only to a retry with the same `Idempotency-Key`. */
  createWebhookEndpoint: {
    body: {
      /** Where deliveries are sent. Live takes public `https` only. */
      url: string;
      /** Type names, families such as `esim.*`, or `["*"]` for all. */
      enabled_event_types: string[];
      description?: string;
      /** Your own ids and notes: up to 20 pairs, names up to 40 characters, values up to 500. */
      metadata?: Record<string, string>;
    };
    result: WebhookEndpoint;
  };
  /** Every endpoint of the account, without secrets. */
  listWebhookEndpoints: {
    query: {
      /** Page size. Above 100 is treated as 100; it may change between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
    };
    result: Page<WebhookEndpoint>;
  };
  /** How it stands; `disabled_reason` says what to fix when we disabled it. */
  getWebhookEndpoint: {
    params: {
      /** The endpoint’s `we_…` id. */
      id: string;
    };
    result: WebhookEndpoint;
  };
  /** Changes what is given and leaves the rest. `metadata` is merged; an empty value removes a name. `status: "disabled"` stops deliveries, `"enabled"` starts them again. */
  updateWebhookEndpoint: {
    params: {
      /** The endpoint’s `we_…` id. */
      id: string;
    };
    body: {
      /** Where deliveries are sent. Live takes public `https` only. */
      url?: string;
      /** Type names, families such as `esim.*`, or `["*"]` for all. */
      enabled_event_types?: string[];
      description?: string;
      /** Your own ids and notes: up to 20 pairs, names up to 40 characters, values up to 500. */
      metadata?: Record<string, string>;
      status?: 'enabled' | 'disabled';
    };
    result: WebhookEndpoint;
  };
  /** Cancels what was still to be delivered to it. */
  deleteWebhookEndpoint: {
    params: {
      /** The endpoint’s `we_…` id. */
      id: string;
    };
    result: {
      id: string;
      object: 'webhook_endpoint';
      deleted: true;
    };
  };
  /** After the cause is fixed: new events are delivered again. `recover` brings what was missed meanwhile. */
  enableWebhookEndpoint: {
    params: {
      /** The endpoint’s `we_…` id. */
      id: string;
    };
    result: WebhookEndpoint;
  };
  /** Answers with a new secret. Until the old one expires, deliveries are signed with both. */
  rotateWebhookSecret: {
    params: {
      /** The endpoint’s `we_…` id. */
      id: string;
    };
    body: {
      /** For how many seconds the old secret goes on signing; a day when left out, a week at most. */
      expires_in?: number;
    };
    result: WebhookEndpoint;
  };
  /** Queues every event since then that the endpoint subscribes to and has not received. The endpoint must be enabled. */
  recoverWebhookEndpoint: {
    params: {
      /** The endpoint’s `we_…` id. */
      id: string;
    };
    body: {
      /** Unix time in seconds. */
      since: number;
    };
    result: {
      object: 'recovery';
      webhook_endpoint_id: string;
      /** From when on. Unix time in seconds. */
      since: number;
    };
  };
  /** What was sent to it, and what came of it. */
  listEndpointDeliveries: {
    params: {
      /** The endpoint’s `we_…` id. */
      id: string;
    };
    query: {
      /** Page size. Above 100 is treated as 100; it may change between pages. */
      limit?: number;
      /** The `next_cursor` of the previous page, unchanged. */
      starting_after?: string;
      status?: 'pending' | 'succeeded' | 'failed' | 'canceled';
    };
    result: Page<Delivery>;
  };
  /** One delivery with its attempts. */
  getDelivery: {
    params: {
      /** The delivery’s `dlv_…` id. */
      id: string;
    };
    result: Delivery;
  };
  /** Sends a pending one now; queues a new one for a failed or canceled one. */
  retryDelivery: {
    params: {
      /** The delivery’s `dlv_…` id. */
      id: string;
    };
    result: Delivery;
  };
  /** Enters by the same path as a live network’s own reports, and causes the same events. Sandbox only. Answers with the eSIM as it then stands. */
  simulateEsim: {
    params: {
      /** The eSIM’s ICCID. */
      iccid: string;
    };
    body: {
      /** What happens. */
      action: 'download' | 'install' | 'enable' | 'disable' | 'delete' | 'attach' | 'use_data' | 'expire_bundle';
      /** For `attach`: ISO 3166-1 alpha-2. */
      country?: string;
      /** For `use_data`: how much. */
      bytes?: number;
      /** For `use_data`: a record with an id that was seen before is not counted again. Made up when left out. */
      record_id?: string;
      /** When it happened; now when left out. Unix time in seconds. */
      at?: number;
    };
    result: Esim;
  };
};

/** Where every operation is. */
export const endpoints = {
  getMe: ['GET', '/v1/me'],
  listProducts: ['GET', '/v1/products'],
  getProduct: ['GET', '/v1/products/{id}'],
  createEsim: ['POST', '/v1/esims'],
  listEsims: ['GET', '/v1/esims'],
  getEsim: ['GET', '/v1/esims/{iccid}'],
  getInstallProfile: ['GET', '/v1/esims/{iccid}/install'],
  suspendEsim: ['POST', '/v1/esims/{iccid}/suspend'],
  resumeEsim: ['POST', '/v1/esims/{iccid}/resume'],
  terminateEsim: ['DELETE', '/v1/esims/{iccid}'],
  listBundles: ['GET', '/v1/esims/{iccid}/bundles'],
  addBundle: ['POST', '/v1/esims/{iccid}/bundles'],
  reportUsage: ['POST', '/v1/usage_records'],
  listExecutions: ['GET', '/v1/executions'],
  getExecution: ['GET', '/v1/executions/{id}'],
  listEvents: ['GET', '/v1/events'],
  getEvent: ['GET', '/v1/events/{id}'],
  listEventTypes: ['GET', '/v1/event_types'],
  sendTestEvent: ['POST', '/v1/events/test'],
  replayEvent: ['POST', '/v1/events/{id}/replay'],
  listEventDeliveries: ['GET', '/v1/events/{id}/deliveries'],
  createWebhookEndpoint: ['POST', '/v1/webhook_endpoints'],
  listWebhookEndpoints: ['GET', '/v1/webhook_endpoints'],
  getWebhookEndpoint: ['GET', '/v1/webhook_endpoints/{id}'],
  updateWebhookEndpoint: ['PATCH', '/v1/webhook_endpoints/{id}'],
  deleteWebhookEndpoint: ['DELETE', '/v1/webhook_endpoints/{id}'],
  enableWebhookEndpoint: ['POST', '/v1/webhook_endpoints/{id}/enable'],
  rotateWebhookSecret: ['POST', '/v1/webhook_endpoints/{id}/rotate_secret'],
  recoverWebhookEndpoint: ['POST', '/v1/webhook_endpoints/{id}/recover'],
  listEndpointDeliveries: ['GET', '/v1/webhook_endpoints/{id}/deliveries'],
  getDelivery: ['GET', '/v1/deliveries/{id}'],
  retryDelivery: ['POST', '/v1/deliveries/{id}/retry'],
  simulateEsim: ['POST', '/v1/sandbox/esims/{iccid}/simulate'],
} as const satisfies Record<keyof Operations, readonly [method: string, path: string]>;


import type {
  AuditEntry,
  Batch,
  Bundle,
  Delivery,
  Esim,
  Event,
  Execution,
  WebhookEndpoint,
} from '@simplane/contract';

/** One request as its client saw it. `status` is null if no answer came, so the outcome is unknown. */
export type Sent = {
  account: number;
  process: string;
  method: string;
  path: string;
  body: unknown;
  key: string | null;
  sentMs: number;
  answeredMs: number;
  status: number | null;
  text: string;
  isReplayed: boolean;
  /** The key or session that was used instead of the account's own key; see `Credential`. */
  credential: string | null;
};

/** A key or a session that its account has made, and perhaps ended. */
export type Credential = {
  account: number;
  /** `key_…` or `sess_…`. */
  id: string;
  /** What a request needs to use it at the process with this URL. */
  headersAt(url: string): Record<string, string>;
  /** When its end was acknowledged. */
  endedMs: number | null;
};

/** One delivery as its receiver saw it. */
export type Receipt = {
  account: number;
  /** The last path segment of the endpoint's URL; unique per endpoint. */
  hook: string;
  atMs: number;
  body: string;
  headers: Record<string, string>;
  /** How the receiver responded. */
  behavior: string;
  /** A 2xx was sent. */
  isAcknowledged: boolean;
};

/** One call as the network saw it. `id` is the same for every repetition of one step of one execution. */
export type NetworkCall = {
  id: string;
  executionId: string;
  step: string;
  iccid: string | null;
  worker: string;
  atMs: number;
  answer: string;
};

/** A list read page by page while other requests run. */
export type Walk = {
  account: number;
  list: ListName;
  startedMs: number;
  endedMs: number;
  limit: number;
  ids: string[];
};

export type ListName = 'executions' | 'esims' | 'events' | 'webhook_endpoints';

/** One event as a reader of the feed saw it. */
export type SeenEvent = {
  id: string;
  body: string;
  atMs: number;
  /** By a consumer: the service has confirmed that it is done. */
  isAcknowledged: boolean;
};

/** A reader that followed an account's feed from `start`. `late`: one that began when all was done. */
export type FeedReader = {
  account: number;
  kind: 'poll' | 'stream' | 'consumer' | 'late';
  /** In the order of arrival. */
  seen: SeenEvent[];
  refusals: { atMs: number; text: string }[];
};

/** An action of a fault, a process or the checker; printed with violations. */
type Note = { atMs: number; text: string };

/** The final state of one account, when all work is done. */
export type AccountEnd = {
  executions: Execution[];
  batches: Batch[];
  esims: Esim[];
  bundles: Bundle[];
  events: Event[];
  endpoints: WebhookEndpoint[];
  auditEntries: AuditEntry[];
};

/** A process that exited without being stopped, or did not exit with 0 after SIGTERM. */
type UnexpectedExit = { process: string; how: string; lastOutput: string };

/** The row of an order, and its table. */
export type OrderRow = { id: string; table: string };

/** A delivery in the history; the API shows its times in seconds only. */
export type EndedDelivery = {
  id: string;
  endpointId: string;
  eventId: string;
  origin: string;
  createdMs: number;
  /** When the last attempt was over, or when it was canceled. */
  endedMs: number;
};

/** A row of unfinished work after healing, and why it counts as stuck. */
export type StuckRow = { table: string; id: string; why: string };

/** Everything observed from outside; the input of every check. */
export type History = {
  startedMs: number;
  sent: Sent[];
  receipts: Receipt[];
  calls: NetworkCall[];
  walks: Walk[];
  feedReaders: FeedReader[];
  /** The ids of the operator's feed at the end of the run, in its order. */
  deploymentFeed: string[];
  credentials: Credential[];
  notes: Note[];
  unexpectedExits: UnexpectedExit[];
  /** By account, after healing and recovery, when all work is done. */
  end: AccountEnd[];
  /** Of the audit log: what belongs to no account. */
  deploymentEntries: AuditEntry[];
  /** Every delivery of every event, by account, when all work is done and before recovery. */
  deliveries: Delivery[][];
  /** `deliveries` covers events committed before this time. */
  deliveriesAsOfMs: number;
  /** Times in which an old primary was still up, read-only: clients connected to it read old data. */
  staleReads: { fromMs: number; toMs: number }[];
  /** The standby that takes over lacks commits, so places in the feed may expire. */
  losesCommits: boolean;
  /** PostgreSQL's commit timestamp of each event. */
  committedMs: Map<string, number>;
  stuck: StuckRow[];
  /** All rows of orders at the end, read in one snapshot. */
  orderRows: OrderRow[];
  /** The tables that contain each delivery at the end of the run. */
  places: Map<string, string[]>;
  /** What the operator's core received, in this order, and what it believes of each eSIM. */
  core: { commands: CoreCommand[]; lines: Map<string, CoreCommand> };
  /** What the tables of usage say at the end of the run. */
  books: Books;
  /** The tables that still contain a value of an erased eSIM at the end of the run, by value. */
  remaining: Map<string, string[]>;
  /** All ended deliveries of events and recoveries, at the end of the run. */
  endedDeliveries: EndedDelivery[];
  /** Endpoints whose lease another process took before it expired, recorded inside PostgreSQL. */
  stolenLeases: string[];
};

/** A state of an eSIM as the operator's core received it. */
export type CoreCommand = {
  iccid: string;
  version: number;
  state: string;
  reason: string | null;
  body: string;
};

export type Books = {
  /** eSIMs whose records have another sum than what was counted. */
  unbalanced: { iccid: string; recorded: number; counted: number }[];
  /** Records that count on a bundle which does not cover their country. */
  foreign: { iccid: string; record_id: string; country: string }[];
  /** Bytes that were reported after the end of their eSIM, by ICCID. */
  late: Map<string, number>;
  /** eSIMs and usage records that are in two cells. */
  doubled: string[];
};

export function emptyHistory(startedMs: number): History {
  return {
    startedMs,
    sent: [],
    receipts: [],
    calls: [],
    walks: [],
    feedReaders: [],
    deploymentFeed: [],
    credentials: [],
    notes: [],
    unexpectedExits: [],
    end: [],
    deploymentEntries: [],
    deliveries: [],
    deliveriesAsOfMs: 0,
    staleReads: [],
    losesCommits: false,
    committedMs: new Map(),
    stuck: [],
    orderRows: [],
    places: new Map(),
    core: { commands: [], lines: new Map() },
    books: { unbalanced: [], foreign: [], late: new Map(), doubled: [] },
    remaining: new Map(),
    endedDeliveries: [],
    stolenLeases: [],
  };
}

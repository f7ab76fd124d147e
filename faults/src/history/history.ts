import type { Bundle, Delivery, Esim, Event, Execution, WebhookEndpoint } from '@simplane/contract';

/** One request as its client saw it. A `status` of null: no answer came, and the client cannot know what happened. */
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
};

/** One delivery as its receiver saw it. */
export type Receipt = {
  account: number;
  /** The last part of the endpoint's address: a name that no other endpoint has. */
  hook: string;
  atMs: number;
  body: string;
  headers: Record<string, string>;
  /** What the receiver did about it. */
  mood: string;
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

/** A list read from its first page to its last, while everything went on. */
export type Walk = {
  account: number;
  list: ListName;
  startedMs: number;
  endedMs: number;
  limit: number;
  ids: string[];
};

export type ListName = 'executions' | 'esims' | 'events' | 'webhook_endpoints';

/** What a fault, a process or the checker itself did, for the reader of a violation. */
type Note = { atMs: number; text: string };

/** How one account stands when all is quiet. */
export type AccountEnd = {
  executions: Execution[];
  esims: Esim[];
  bundles: Bundle[];
  events: Event[];
  endpoints: WebhookEndpoint[];
};

/** A process that ended although nobody had ended it, or did not end in order when it was asked to. */
type OddEnding = { process: string; how: string; lastWords: string };

/** Work that lies there although everything is healed: which table, which row, and why it counts as stuck. */
export type StuckRow = { table: string; id: string; why: string };

/** All that was seen from outside, in one place: what the checks are functions of. */
export type History = {
  startedMs: number;
  sent: Sent[];
  receipts: Receipt[];
  calls: NetworkCall[];
  walks: Walk[];
  notes: Note[];
  oddEndings: OddEnding[];
  /** By account, after everything was healed, recovered and quiet. */
  end: AccountEnd[];
  /** Every delivery of every event, by account, when all was quiet and before anything was recovered. */
  deliveries: Delivery[][];
  /** Events that were committed before this are in those deliveries. */
  deliveriesAsOfMs: number;
  /** While an old primary was up and read-only beside the new one: whoever was still connected to it read what had been. */
  staleReads: { fromMs: number; toMs: number }[];
  /** When each event was committed, by PostgreSQL's own record. */
  committedMs: Map<string, number>;
  stuck: StuckRow[];
};

export function emptyHistory(startedMs: number): History {
  return {
    startedMs,
    sent: [],
    receipts: [],
    calls: [],
    walks: [],
    notes: [],
    oddEndings: [],
    end: [],
    deliveries: [],
    deliveriesAsOfMs: 0,
    staleReads: [],
    committedMs: new Map(),
    stuck: [],
  };
}

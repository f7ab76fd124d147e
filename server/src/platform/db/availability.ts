import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseAddress, DatabaseHost } from './connection-url.ts';
import { endClient } from './end-client.ts';
import { type Closure, createGate } from './gate.ts';
import type { InFlight } from './in-flight.ts';
import { type Opened, openClient, openWritable } from './open-client.ts';
import { applicationName } from './schema-version.ts';
import { isServerGone } from './unavailable.ts';

type Options = {
  address: DatabaseAddress;
  inFlight: InFlight;
  /** Called with null when the database is fully available again. */
  onChange(closure: Closure | null): void;
  /** Connections opened before this call may be to the wrong server. */
  onSuspicion(): void;
};

export type Availability = {
  /** The server for new connections. */
  host(): DatabaseHost;
  closure(): Closure | null;
  pass(isRead: boolean): Promise<void>;
  /** Call when the server is read-only or gone. Searches until a writable server is found. */
  findServer(reason: string): void;
  stop(): void;
};

const searchEveryMs = 250;
const watchMs = 500;
// A statement normally takes milliseconds. After this long, ask the server about it.
const slowMs = 1_000;
// Two checks this far apart must agree. A restarting standby is back by then, so no request fails because of it.
const checkEveryMs = 2_000;

/** Tracks which server accepts writes and whether its commits complete. Holds statements back while they do not. */
export function createAvailability({ address, inFlight, onChange, onSuspicion }: Options): Availability {
  let host = address.hosts[0] as DatabaseHost;
  let isSearching = false;
  let nextCheckAtMs = 0;
  let isStopped = false;
  /** Commits the last check found waiting, or `noAnswer` if the server did not answer. */
  let lastSeen = new Set<string>();
  const gate = createGate(onChange);
  // Checks use their own connection, because all connections of the pool may be stuck.
  const options = { applicationName: applicationName('check'), queryTimeoutMs: address.connectTimeoutMs };

  function close(closure: Closure): void {
    gate.close(closure);
    if (closure.admits === 'nothing') onSuspicion();
    if (!isSearching) search().catch(() => {}); // it handles its own errors
  }

  /** Never rejects. Ends when a server accepts writes and none of our commits is stuck on it. */
  async function search(): Promise<void> {
    isSearching = true;
    const before = host;
    while (!isStopped) {
      if (await isUsable()) break;
      await delay(searchEveryMs, undefined, { ref: false });
    }
    isSearching = false;
    if (isStopped) return;
    lastSeen = new Set();
    // Some connections may have been opened to the old server in the meantime.
    if (gate.closure()?.admits === 'nothing' || host !== before) onSuspicion();
    gate.open();
  }

  async function isUsable(): Promise<boolean> {
    try {
      const found = await openWritable(address, options);
      const waiting = await waitingAt(found);
      const isStuck = intersects(waiting, lastSeen);
      lastSeen = waiting;
      host = found.host;
      return !isStuck;
    } catch {
      return false; // the gate already holds the reason
    }
  }

  /** Asks the server about slow statements. Two checks must agree, because a commit that waits briefly is not stuck. */
  async function check(): Promise<void> {
    const seen = await openClient(host, address, options)
      .then(waitingAt)
      .catch((error: unknown) => (isServerGone(error) ? new Set([noAnswer]) : new Set<string>()));
    const isStuck = intersects(seen, lastSeen);
    lastSeen = seen;
    if (!isStuck || gate.closure()) return;
    if (seen.has(noAnswer)) close({ reason: `${host.label} does not answer`, admits: 'nothing' });
    else close({ reason: 'commits wait for a synchronous standby that is down', admits: 'reads' });
  }

  function watch(): void {
    const slow = inFlight.olderThan(slowMs);
    const closure = gate.closure();
    if (closure) {
      // The outcome of a statement already sent is unknown. It fails, and the caller resolves it with its idempotency key.
      for (const { client, isRead } of slow) {
        if (!(isRead && closure.admits === 'reads')) cut(client);
      }
    } else if (slow.length === 0) lastSeen = new Set();
    else if (performance.now() >= nextCheckAtMs) {
      nextCheckAtMs = Number.POSITIVE_INFINITY; // while it runs
      const startedAtMs = performance.now();
      const done = () => {
        nextCheckAtMs = startedAtMs + checkEveryMs;
      };
      check().then(done, done);
    }
  }

  const watching = setInterval(watch, watchMs).unref();
  return {
    host: () => host,
    closure: gate.closure,
    pass: gate.pass,
    findServer(reason) {
      if (gate.closure()?.admits !== 'nothing') close({ reason, admits: 'nothing' });
    },
    stop() {
      isStopped = true;
      clearInterval(watching);
    },
  };
}

const noAnswer = 'no answer';

async function waitingAt({ client }: Opened): Promise<Set<string>> {
  try {
    return await readWaitingCommits(client);
  } finally {
    endClient(client).catch(() => {}); // no need to wait for the close
  }
}

/** While a statement runs, `end` makes `pg` destroy the socket, so the statement fails. */
function cut(client: pg.PoolClient): void {
  (client as unknown as pg.Client).end().catch(() => {});
}

function intersects(one: Set<string>, other: Set<string>): boolean {
  return [...one].some((element) => other.has(element));
}

/**
 * Commits that wait for a synchronous standby, each identified by a text that stays the same while it waits. PostgreSQL does
 * not bound this wait: `statement_timeout` no longer applies, and a backend keeps waiting after its client is gone.
 */
async function readWaitingCommits(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ commit: string }>(
    `select pid || ' ' || query_start as commit from pg_stat_activity
     where datname = current_database() and wait_event = 'SyncRep'`,
  );
  return new Set(rows.map(({ commit }) => commit));
}

import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseAddress, DatabaseHost } from './connection-url.ts';
import { endClient } from './end-client.ts';
import { type Closure, createGate } from './gate.ts';
import type { InFlight } from './in-flight.ts';
import { type Opened, openClient, openWritable } from './open-client.ts';
import { applicationName } from './schema-version.ts';
import { readWaitingCommits } from './stuck-commits.ts';
import { isServerGone } from './unavailable.ts';

type Options = {
  address: DatabaseAddress;
  inFlight: InFlight;
  /** Called with null when the database takes everything again. */
  onChange(closure: Closure | null): void;
  /** Connections that were opened before this moment may lead to the wrong server. */
  onSuspicion(): void;
};

export type Availability = {
  /** Where new connections go. */
  host(): DatabaseHost;
  closure(): Closure | null;
  pass(isRead: boolean): Promise<void>;
  /** Something said that the server takes no writes or is gone: looks for one that does, until there is one. */
  findServer(reason: string): void;
  stop(): void;
};

const lookAgainMs = 250;
const watchMs = 500;
// A statement takes milliseconds. One that takes this long is worth asking the server about.
const slowMs = 1_000;
// Between the two looks that must agree. A standby that is restarted is back within it, and costs nobody an error.
const apartMs = 2_000;

/** Knows which server takes writes, whether commits come to an end there, and holds statements back while they do not. */
export function createAvailability({ address, inFlight, onChange, onSuspicion }: Options): Availability {
  let host = address.hosts[0] as DatabaseHost;
  let isLooking = false;
  let nextCheckAtMs = 0;
  let isStopped = false;
  /** What the last check found waiting, or that the server did not answer it. */
  let lastSeen = new Set<string>();
  const gate = createGate(onChange);
  // On a connection of its own: those of the pool may all be stuck.
  const asking = { applicationName: applicationName('check'), queryTimeoutMs: address.connectTimeoutMs };

  function close(closure: Closure): void {
    gate.close(closure);
    if (closure.admits === 'nothing') onSuspicion();
    if (!isLooking) look().catch(() => {}); // it catches what can go wrong by itself
  }

  /** Never rejects. Ends when a server takes writes and none of our commits waits there without end. */
  async function look(): Promise<void> {
    isLooking = true;
    const before = host;
    while (!isStopped) {
      if (await isUsable()) break;
      await delay(lookAgainMs, undefined, { ref: false });
    }
    isLooking = false;
    if (isStopped) return;
    lastSeen = new Set();
    // Some may have been opened to the old server meanwhile.
    if (gate.closure()?.admits === 'nothing' || host !== before) onSuspicion();
    gate.open();
  }

  async function isUsable(): Promise<boolean> {
    try {
      const found = await openWritable(address, asking);
      const waiting = await waitingAt(found);
      const isStuck = intersects(waiting, lastSeen);
      lastSeen = waiting;
      host = found.host;
      return !isStuck;
    } catch {
      return false; // the gate says since when and why
    }
  }

  /** Asks the server about what takes too long. Two looks must agree: a commit that waits a moment is not stuck. */
  async function check(): Promise<void> {
    const seen = await openClient(host, address, asking)
      .then(waitingAt)
      .catch((error: unknown) => (isServerGone(error) ? new Set([noAnswer]) : new Set<string>()));
    const isStuck = intersects(seen, lastSeen);
    lastSeen = seen;
    if (!isStuck || gate.closure()) return;
    if (seen.has(noAnswer)) close({ reason: `${host.label} does not answer`, admits: 'nothing' });
    else close({ reason: 'commits wait for a synchronous standby that is not there', admits: 'reads' });
  }

  function watch(): void {
    const slow = inFlight.olderThan(slowMs);
    const closure = gate.closure();
    if (closure) {
      // What is sent by now is in doubt: the caller is told so, and settles it by its idempotency key.
      for (const { client, isRead } of slow) {
        if (!(isRead && closure.admits === 'reads')) cut(client);
      }
    } else if (slow.length === 0) lastSeen = new Set();
    else if (performance.now() >= nextCheckAtMs) {
      nextCheckAtMs = Number.POSITIVE_INFINITY; // while it runs
      const startedAtMs = performance.now();
      const done = () => {
        nextCheckAtMs = startedAtMs + apartMs;
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
    endClient(client).catch(() => {}); // nobody needs to wait for the goodbye
  }
}

/** With a statement under way, `pg` destroys the socket, and the statement fails. */
function cut(client: pg.PoolClient): void {
  (client as unknown as pg.Client).end().catch(() => {});
}

function intersects(one: Set<string>, other: Set<string>): boolean {
  return [...one].some((element) => other.has(element));
}

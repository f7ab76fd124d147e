import type pg from 'pg';
import { restMs } from '../worker/wake.ts';
import { type DatabaseAddress, parseConnectionUrl } from './connection-url.ts';
import type { Database, Queryable } from './database.ts';
import { endClient } from './end-client.ts';
import { openWritable } from './open-client.ts';
import { applicationName } from './schema-version.ts';
import { examineSession, isWritable } from './session.ts';
import { run } from './statement.ts';

/** `deliveries` also wakes sequencers: whoever writes events announces it. `feed` wakes readers when events got their positions. */
export type Topic = 'executions' | 'deliveries' | 'feed';

export type Signals = {
  /**
   * Announces new work after a commit: at once in this process and, if the last NOTIFY is 20 ms ago, in the others. `subject`
   * narrows it to, for example, an account; without one, listeners look at all work.
   */
  announce(topic: Topic, subject?: string): void;
  /**
   * Says whether any other process runs. While none does, nobody is notified: in a deployment of one process, each NOTIFY would come
   * back and start its work a second time. A process that starts says so itself.
   */
  setAlone(isAlone: boolean): void;
  /** Whether no other process runs, and one that starts would be heard: then this process knows of all work without polling. */
  hearsAll(): boolean;
  /** Returns a function that ends it. */
  on(topic: Topic, listener: (subject: string | undefined) => void): () => void;
  stop(): Promise<void>;
};

/** What telling others about new work takes. */
export type Announcing = { signals: Pick<Signals, 'announce'> };

type Options = {
  db: Database;
  /** Where to listen; must not be a pooler. Null: work from other processes is found by polling. */
  connectionString: string | null;
  /** Names the connection. `doctor` counts workers by it. Default: that of a worker. */
  purpose?: 'signals' | 'readers';
  onError(error: Error): void;
};

const channel = 'simplane';
// From a process that has begun to listen. A release without this topic ignores it.
const hello = 'hello';
// Longer than until its first heartbeat is stored, and seen with the next one of the others.
const helloLastsMs = 15_000;
// At most one NOTIFY per topic within this time. One per transaction reduced the measured throughput by 40 %.
const coalesceMs = 20;
const reconnectMs = 1_000;
const heartbeatMs = 2_000;
const heartbeatTimeoutMs = 5_000;
// PostgreSQL's limit is 8,000. If the subjects do not fit, listeners look at all work.
const maxPayloadBytes = 7_900;

const notify = run<[payload: string]>('signal', (payload) => [channel, payload])`select pg_notify($1, $2)`;

/** Notifies workers of new orders. For commands, which end before `announce` could send. */
export const notifyOfOrders = (db: Queryable): Promise<void> => notify(db, 'executions' satisfies Topic);

/** Wakes workers early. It is only an optimization: without a signal, workers find the work by polling. */
export function createSignals({ db, connectionString, purpose = 'signals', onError }: Options): Signals {
  const listeners = new Map<Topic, Set<(subject: string | undefined) => void>>();
  // Subjects since the last NOTIFY. A topic without an entry had none in the last 20 ms, so its next one goes out at once.
  const pending = new Map<Topic, Set<string | undefined>>();
  const timers = new Map<Topic, NodeJS.Timeout>();
  const address = connectionString === null ? null : parseConnectionUrl(connectionString);
  let isListening = false;
  let listening: pg.Client | null = null;
  let reconnect: NodeJS.Timeout | undefined;
  let stopped = false;
  let isAlone = false;
  let helloAtMs = Number.NEGATIVE_INFINITY;

  const isStillAlone = () => isAlone && performance.now() - helloAtMs > helloLastsMs;

  function wake(topic: Topic, subject: string | undefined): void {
    for (const listener of listeners.get(topic) ?? []) listener(subject);
  }

  function receive(payload: string): void {
    if (payload === hello) helloAtMs = performance.now();
    const [topic, ...subjects] = payload.split(' ');
    for (const subject of subjects.length > 0 ? subjects : [undefined]) wake(topic as Topic, subject);
  }

  function notifyOthers(topic: Topic): void {
    const subjects = [...(pending.get(topic) ?? [])];
    if (stopped || subjects.length === 0) {
      pending.delete(topic);
      return;
    }
    pending.set(topic, new Set());
    timers.set(topic, setTimeout(notifyOthers, coalesceMs, topic));
    const narrow = [topic, ...subjects].join(' ');
    const isNarrow = narrow.length <= maxPayloadBytes && !subjects.includes(undefined);
    const payload = isNarrow ? narrow : topic;
    notify(db, payload).catch(onError);
  }

  /** Never rejects; reports errors and tries again. */
  async function listen(address: DatabaseAddress): Promise<void> {
    isListening = true;
    const options = { applicationName: applicationName(purpose), queryTimeoutMs: heartbeatTimeoutMs };
    const opened = await openWritable(address, options).catch((error: Error) => {
      if (!stopped) onError(error);
      return null;
    });
    if (opened) await listenOn(opened.client, address);
    else listenAgain(address);
  }

  /** From here on, only the connection's `end` event triggers a reconnect. */
  async function listenOn(client: pg.Client, address: DatabaseAddress): Promise<void> {
    listening = client;
    client.on('notification', ({ payload }) => receive(payload ?? ''));
    client.on('error', onError);
    client.once('end', () => listenAgain(address));
    try {
      if (stopped) return await endClient(client);
      await client.query(`listen ${channel}`);
      await client.query(`notify ${channel}, '${hello}'`);
      startHeartbeat(client, address);
    } catch (error) {
      if (!stopped) onError(error as Error);
      await endClient(client);
    }
  }

  function listenAgain(address: DatabaseAddress): void {
    listening = null;
    if (!stopped) reconnect = setTimeout(() => void listen(address).catch(onError), reconnectMs);
  }

  /** After its server is demoted, a connection may stay open but never receive anything again. */
  function startHeartbeat(client: pg.Client, address: DatabaseAddress): void {
    let timer: NodeJS.Timeout | undefined;
    const end = () => void endClient(client);
    const check = () => {
      examineSession(client, { settings: false, timeoutMs: heartbeatTimeoutMs }).then(
        (session) => (isWritable(session, address.target) ? beat() : end()),
        end,
      );
    };
    const beat = () => {
      // While no other process runs, no signal of one can be lost.
      timer = setTimeout(check, restMs(heartbeatMs, isStillAlone()));
    };
    client.once('end', () => clearTimeout(timer));
    beat();
  }

  return {
    announce(topic, subject) {
      if (listeners.has(topic)) setImmediate(wake, topic, subject);
      if (isStillAlone()) return;
      const waiting = pending.get(topic);
      if (waiting) {
        waiting.add(subject);
        return;
      }
      pending.set(topic, new Set([subject]));
      // Not in this turn of the event loop: a commit with several accounts announces each of them.
      setImmediate(notifyOthers, topic);
    },

    setAlone(alone) {
      isAlone = alone;
    },

    hearsAll: () => listening !== null && isStillAlone(),

    on(topic, listener) {
      const known = listeners.get(topic) ?? new Set();
      listeners.set(topic, known.add(listener));
      // Only a process with listeners needs a connection for LISTEN.
      if (address && !isListening) listen(address).catch(onError);
      return () => void known.delete(listener);
    },

    async stop() {
      stopped = true;
      clearTimeout(reconnect);
      for (const timer of timers.values()) clearTimeout(timer);
      if (listening) await endClient(listening);
    },
  };
}

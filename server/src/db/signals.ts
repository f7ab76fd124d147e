import pg from 'pg';
import type { Database } from './database.ts';

type Topic = 'executions';

export type Signals = {
  /** Says, after a commit, that there is work: at once in this process, a moment later in the others. */
  announce(topic: Topic): void;
  on(topic: Topic, listener: () => void): void;
  stop(): Promise<void>;
};

type Options = { db: Database; connectionString: string; onError(error: Error): void };

const channel = 'simplane';
// One NOTIFY for all the commits of this long: one in every transaction cut throughput by 40 % when it was measured.
const coalesceMs = 20;
const reconnectMs = 1_000;

/** Wakes workers early. Nothing depends on it: whoever hears nothing finds the work by polling. */
export function createSignals({ db, connectionString, onError }: Options): Signals {
  const listeners = new Map<Topic, Set<() => void>>();
  const pending = new Map<Topic, NodeJS.Timeout>();
  let listening: pg.Client | null = null;
  let reconnect: NodeJS.Timeout | undefined;
  let stopped = false;

  function wake(topic: string): void {
    for (const listener of listeners.get(topic as Topic) ?? []) listener();
  }

  function tellOthers(topic: Topic): void {
    pending.delete(topic);
    db.query({ name: 'signal', text: 'select pg_notify($1, $2)' }, [channel, topic]).catch(onError);
  }

  async function listen(): Promise<void> {
    const client = new pg.Client({ connectionString, application_name: 'simplane signals', keepAlive: true });
    listening = client;
    client.on('notification', ({ payload }) => wake(payload ?? ''));
    client.on('error', onError);
    client.once('end', () => {
      if (!stopped) reconnect = setTimeout(() => void listen().catch(onError), reconnectMs);
    });
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch (error) {
      onError(error as Error);
      await client.end().catch(() => {});
    }
  }

  return {
    announce(topic) {
      setImmediate(wake, topic);
      if (!pending.has(topic)) pending.set(topic, setTimeout(tellOthers, coalesceMs, topic));
    },

    on(topic, listener) {
      const known = listeners.get(topic) ?? new Set();
      listeners.set(topic, known.add(listener));
      // Only who waits for something needs a connection to hear it on.
      if (!listening) listen().catch(onError);
    },

    async stop() {
      stopped = true;
      clearTimeout(reconnect);
      for (const timer of pending.values()) clearTimeout(timer);
      await listening?.end().catch(() => {});
    },
  };
}

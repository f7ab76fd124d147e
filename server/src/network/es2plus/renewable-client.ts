import { type ClientOptions, createEs2Client, type Es2Client } from './client.ts';

export type RenewableClient = Es2Client & {
  /** New calls use these certificates, on new connections. Calls in progress finish with the old ones. */
  renew(tls: ClientOptions['tls']): void;
};

type Generation = { client: Es2Client; callCount: number };

/** An ES2+ client whose certificates can be replaced while it is used. */
export function createRenewableClient(options: ClientOptions): RenewableClient {
  let current = open(options);
  const generations = new Set([current]);

  function closeIfDone(generation: Generation): void {
    if (generation === current || generation.callCount > 0) return;
    generations.delete(generation);
    void generation.client.close().catch(() => {});
  }

  return {
    host: current.client.host,

    async post(...request) {
      const used = current;
      used.callCount += 1;
      try {
        return await used.client.post(...request);
      } finally {
        used.callCount -= 1;
        closeIfDone(used);
      }
    },

    renew(tls) {
      const replaced = current;
      current = open({ ...options, tls });
      generations.add(current);
      closeIfDone(replaced);
    },

    async close() {
      await Promise.all([...generations].map(({ client }) => client.close()));
    },
  };
}

function open(options: ClientOptions): Generation {
  return { client: createEs2Client(options), callCount: 0 };
}

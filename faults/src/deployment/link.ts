import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Link = {
  url: string;
  /** Resets all connections, as a network failure does. Returns how many. */
  cut(): number;
  /** Holds data back without losing any; it arrives after `release`. */
  hold(): void;
  release(): void;
  close(): Promise<void>;
};

type Pair = { client: Socket; server: Socket };

/**
 * A proxy between one process and the database. `serverUrl` has the user and the database; `socketPath` returns the
 * current socket of PostgreSQL, or null while it is down.
 */
export async function openLink(serverUrl: string, socketPath: () => string | null): Promise<Link> {
  const pairs = new Set<Pair>();
  let isHeld = false;

  const proxy = createServer((client) => {
    client.on('error', () => {});
    const path = socketPath();
    if (path === null) {
      client.destroy();
      return;
    }
    const server = connect(path);
    const pair = { client, server };
    pairs.add(pair);
    server.on('error', () => {});
    // Messages are small, so unsent data may buffer in memory.
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk) => client.write(chunk));
    for (const side of [client, server]) {
      side.on('close', () => {
        pairs.delete(pair);
        client.destroy();
        server.destroy();
      });
    }
    if (isHeld) pause(pair);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;

  const url = new URL(serverUrl);
  url.search = '?sslmode=disable';
  url.host = `127.0.0.1:${port}`;

  function release(): void {
    isHeld = false;
    for (const { client, server } of pairs) {
      client.resume();
      server.resume();
    }
  }

  return {
    url: url.href,
    cut() {
      const { size } = pairs;
      for (const { client, server } of pairs) {
        client.resetAndDestroy();
        server.destroy();
      }
      return size;
    },
    hold() {
      isHeld = true;
      for (const pair of pairs) pause(pair);
    },
    release,
    async close() {
      release();
      if (!proxy.listening) return;
      const closed = once(proxy, 'close');
      proxy.close();
      for (const { client } of pairs) client.destroy();
      await closed;
    },
  };
}

function pause({ client, server }: Pair): void {
  client.pause();
  server.pause();
}

/** Joins the links into one multi-host URL in libpq's format; a client connects to the writable host. */
export function joinLinks(links: Link[]): Link {
  const [first] = links as [Link];
  const { username, password, pathname } = new URL(first.url);
  const hosts = links.map(({ url }) => new URL(url).host).join(',');
  const credentials = password ? `${username}:${password}` : username;
  return {
    url: `postgresql://${credentials}@${hosts}${pathname}?sslmode=disable&target_session_attrs=read-write`,
    cut: () => links.reduce((sum, link) => sum + link.cut(), 0),
    hold: () => links.forEach((link) => void link.hold()),
    release: () => links.forEach((link) => void link.release()),
    close: async () => void (await Promise.all(links.map((link) => link.close()))),
  };
}

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Link = {
  url: string;
  /** As a network does it: both sides lose each other, in the middle of whatever was said. Returns how many. */
  cut(): number;
  /** Nothing passes, and nothing is lost: what is said arrives late, after `release`. */
  hold(): void;
  release(): void;
  close(): Promise<void>;
};

type Pair = { client: Socket; server: Socket };

/**
 * One process's way to the database. `serverUrl` says who connects to which database, `socketPath` where PostgreSQL is
 * now; null while it is down.
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
    // Messages are small: what one side cannot take at once waits in memory.
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

/** Both ways under one address, in libpq's form for several hosts: whoever connects looks for the one that is writable. */
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

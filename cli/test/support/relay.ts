import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The only way between the command line and the service: connections to the service, none back. */
export async function startRelay(target: string) {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let isBlocked = false;
  let requests = 0;
  let refusals = 0;
  let lastRequest = Number.POSITIVE_INFINITY;
  const server = createServer((client) => {
    if (isBlocked) {
      refusals += 1;
      return void client.destroy();
    }
    const upstream = connect(Number(port), hostname);
    client.on('data', () => {
      requests += 1;
      if (requests > lastRequest) block();
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const block = () => {
    isBlocked = true;
    cut();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many requests it has passed on; they are small and have no body. */
    requests: () => requests,
    /** Ends all connections, and every new one at once. */
    block,
    /** The same when the next request after this many begins. */
    blockAfter(count: number) {
      lastRequest = count;
    },
    /** How many connections it has ended at once. */
    refusals: () => refusals,
    unblock() {
      lastRequest = Number.POSITIVE_INFINITY;
      isBlocked = false;
    },
    stop() {
      server.close();
      cut();
    },
  };
}

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy that buffers nothing and closes every connection after a while, each second one in the middle of what it sends. */
export async function startClosingProxy(target: string, afterMs: number) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const proxy = { url: '', closed: 0, stop };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    const timer = setTimeout(() => {
      proxy.closed += 1;
      if (proxy.closed % 2 === 0) client.resetAndDestroy();
      else client.end();
      upstream.destroy();
    }, afterMs);
    client.on('close', () => {
      clearTimeout(timer);
      upstream.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;

  function stop(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  }
}

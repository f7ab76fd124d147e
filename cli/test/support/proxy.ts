import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = { status: number; bytes: Buffer };

/** A proxy that can drop or hold back the service's responses. */
export async function startProxy(target: string) {
  const held = new Map<string, { arrive(): void; released: Promise<void> }>();
  const cut = new Set<string>();
  const server = createServer((request, response) => {
    const name = `${request.method} ${request.url}`;
    void relay(target, request)
      .then(async ({ status, bytes }) => {
        if (cut.has(name)) return response.destroy();
        held.get(name)?.arrive();
        await held.get(name)?.released;
        return response.writeHead(status, { 'Content-Type': 'application/json' }).end(bytes);
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: (method: string, path: string) => void cut.add(`${method} ${path}`),
    hold(method: string, path: string) {
      let arrive = () => {};
      let release = () => {};
      const arrived = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      held.set(`${method} ${path}`, { arrive, released });
      return { arrived, release };
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function relay(target: string, request: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
  const body = Buffer.concat(chunks);
  const answer = await fetch(target + request.url, {
    method: request.method ?? 'GET',
    headers: headers as Record<string, string>,
    ...(body.length > 0 && { body }),
  });
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stopServer } from '../../../server/test/support/stop-server.ts';

/** A server that redirects every request to another one. */
export async function startRedirectingServer(location = 'http://127.0.0.1:9/secret-path', status = 307) {
  const redirecting = { url: '', requests: 0, stop: () => stopServer(server) };
  const server = createServer((_, response) => {
    redirecting.requests += 1;
    response.writeHead(status, { location }).end('moved');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  redirecting.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return redirecting;
}

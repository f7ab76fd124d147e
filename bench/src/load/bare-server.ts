import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Serve = (request: IncomingMessage, response: ServerResponse, text: string) => Promise<void>;

/** A server that checks nothing. Returns its address; an error ends the process, which the benchmark sees. */
export async function startBareServer(serve: Serve): Promise<string> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.once('end', () => {
      serve(request, response, text).catch(fail);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function fail(error: Error): never {
  console.error(error);
  process.exit(1);
}

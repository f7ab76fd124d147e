import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Simplane } from '@simplane/sdk';
import { createMcpServer } from './create-mcp-server.ts';
import { refuseExcess } from './refuse-excess.ts';

export type HttpHandler = {
  /** Answers one request of Streamable HTTP, for the holder of the key. */
  handle(request: Request, apiKey: string): Promise<Response>;
  /** Lets calls in flight answer, waits early ones among them, and then ends the streams that would stay open. */
  close(): Promise<void>;
};

export type HttpHandlerOptions = {
  /** A client of the API that calls with this key. */
  connect(apiKey: string): Simplane;
  onError(error: unknown): void;
};

// Nothing here changes while it runs, so a subscription only holds a connection.
const maxSubscriptions = 100;

/** MCP over HTTP without sessions: each request stands alone, so any process can answer any of them. */
export function createHttpHandler({ connect, onError }: HttpHandlerOptions): HttpHandler {
  const stopping = new AbortController();
  const calls = new Set<Promise<unknown>>();
  const options = {
    stopping: stopping.signal,
    onError,
    onCall(call: Promise<unknown>) {
      const done = () => calls.delete(call);
      calls.add(call);
      call.then(done, done);
    },
  };
  const handler = createMcpHandler(
    ({ authInfo }) => createMcpServer(connect(authInfo?.token ?? ''), options),
    { onerror: onError, maxSubscriptions },
  );
  return {
    async handle(request, apiKey) {
      const parsedBody = await readJson(request);
      const authInfo = { token: apiKey, clientId: '', scopes: [] };
      return refuseExcess(parsedBody) ?? handler.fetch(request, { authInfo, parsedBody });
    },
    async close() {
      stopping.abort();
      await Promise.allSettled(calls);
      await new Promise((resolve) => setImmediate(resolve)); // their answers are on their way
      await handler.close();
    },
  };
}

/** Undefined where it is no JSON: the protocol's own handler then reads it again and says so. */
function readJson(request: Request): Promise<unknown> {
  return request
    .clone()
    .json()
    .catch(() => undefined);
}

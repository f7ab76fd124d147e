import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Scope } from '@simplane/contract';
import type { Simplane } from '@simplane/sdk';
import { createMcpServer } from './create-mcp-server.ts';
import { refuseExcess } from './refuse-excess.ts';

/** Who calls: an API key with its scopes, and the client's address, from which the key may have to be used. */
type Caller = { apiKey: string; scopes: readonly Scope[]; address: string };

export type HttpHandler = {
  /** Handles one Streamable HTTP request. */
  handle(request: Request, caller: Caller): Promise<Response>;
  /** Ends waits early, lets calls in flight finish, then closes open streams. */
  close(): Promise<void>;
};

export type HttpHandlerOptions = {
  /** Creates an API client for this key, used from this address. */
  connect(apiKey: string, address: string): Simplane;
  onError(error: unknown): void;
};

/** Stateless MCP over HTTP: any process can answer any request. */
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
    ({ authInfo }) =>
      createMcpServer(connect(authInfo?.token ?? '', String(authInfo?.extra?.['address'])), {
        ...options,
        scopes: authInfo?.scopes as Scope[],
      }),
    { onerror: onError },
  );
  return {
    async handle(request, { apiKey, scopes, address }) {
      const parsedBody = await readJson(request);
      const authInfo = { token: apiKey, clientId: '', scopes: [...scopes], extra: { address } };
      return refuseExcess(parsedBody) ?? handler.fetch(request, { authInfo, parsedBody });
    },
    async close() {
      stopping.abort();
      await Promise.allSettled(calls);
      await new Promise((resolve) => setImmediate(resolve)); // let their responses be written
      await handler.close();
    },
  };
}

/** Returns undefined if the body is not JSON; the MCP handler then reads it again and reports the error. */
function readJson(request: Request): Promise<unknown> {
  return request
    .clone()
    .json()
    .catch(() => undefined);
}

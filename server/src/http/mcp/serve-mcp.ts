import type { HttpHandler } from '@simplane/mcp';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Service } from '../../background/service.ts';
import { AppError } from '../../platform/app-error.ts';
import { describeCause } from '../../platform/telemetry/describe-cause.ts';
import { keyIn } from '../authenticate.ts';
import { isJsonType } from '../empty-body.ts';
import type { BodyReader } from '../read-body.ts';
import { checkOrigin } from './check-origin.ts';
import { fetchFrom } from './fetch-from.ts';

const path = '/mcp';
// Shorter than agents' own timeouts, so that they receive the reason for a failure.
const callTimeoutMs = 20_000;

/** Streamable HTTP for agents. Their calls go through the API like all requests: keys, scopes, limits, log. */
export function serveMcp(app: FastifyInstance, service: Service, bodies: BodyReader): void {
  let opening: Promise<HttpHandler> | null = null;
  let closing: Promise<void> | null = null;

  // Before the server waits for its connections, because an open stream would delay that.
  app.addHook('preClose', (done) => {
    closing = close();
    done();
  });
  app.addHook('onClose', async () => closing);

  app.register(async (scope) => {
    readRawJson(scope, bodies);
    scope.addHook('onRequest', async ({ headers }) => checkOrigin(service, headers.origin));
    scope.route({ method: 'POST', url: path, config: { needsKey: true }, handler: answer });
    scope.route({
      method: app.supportedMethods.filter((method) => method !== 'POST'),
      url: path,
      config: { allow: 'POST' }, // without sessions there is no stream to GET and nothing to DELETE
      handler: () => Promise.reject(new Error('refused before the handler')),
    });
  });

  async function close(): Promise<void> {
    const handler = await opening?.catch(() => null);
    await handler?.close();
  }

  async function answer(request: FastifyRequest, reply: FastifyReply) {
    if (closing) {
      throw new AppError('unavailable', 'This process is shutting down; retry shortly.', {
        headers: { 'Retry-After': '1' },
      });
    }
    const gone = new AbortController();
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort();
    });
    // The stream’s headers announced keep-alive, so during a shutdown the socket has to be closed here.
    reply.raw.once('finish', () => {
      if (closing) request.raw.socket.destroySoon();
    });
    opening ??= openHandler(app, service);
    const response = await (await opening).handle(toWebRequest(request, gone.signal), {
      apiKey: keyIn(request.headers.authorization) ?? '',
      scopes: request.caller?.apiKey.scopes ?? [],
      address: request.ip,
    });
    return reply.header('Cache-Control', 'no-store').send(response);
  }
}

/** Loaded by the first request, because most processes get none and it is a quarter of the modules. */
async function openHandler(app: FastifyInstance, { log }: Service): Promise<HttpHandler> {
  const [{ createHttpHandler }, { createSimplane }] = await Promise.all([
    import('@simplane/mcp'),
    import('@simplane/sdk'),
  ]);
  return createHttpHandler({
    connect: (apiKey, address) =>
      createSimplane({ apiKey, fetch: fetchFrom(app, address), timeoutMs: callTimeoutMs }),
    onError: (error) => log.info({ cause: describeCause(error) }, 'an MCP message failed'),
  });
}

/** Headers that the protocol reads. The API key is left out: it is already checked, and nothing else should see it. */
const isForwarded = (name: string) => name === 'accept' || name === 'content-type' || name.startsWith('mcp-');

function toWebRequest({ headers, body }: FastifyRequest, signal: AbortSignal): Request {
  const forwarded = Object.entries(headers)
    .filter(([name]) => isForwarded(name))
    .map(([name, value]) => [name, String(value)] as [string, string]);
  const bytes = new Uint8Array((body as Buffer | undefined) ?? Buffer.alloc(0));
  return new Request('http://localhost/mcp', { method: 'POST', headers: forwarded, body: bytes, signal });
}

/** MCP has its own errors for invalid bodies, so bodies are passed on unparsed. */
function readRawJson(scope: FastifyInstance, bodies: BodyReader): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(isJsonType, (request: FastifyRequest, payload, done) => {
    bodies.read(request, payload, (error, body) => done(error ?? refuseEncoded(request), body));
  });
}

function refuseEncoded({ headers }: FastifyRequest): AppError | null {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return null;
  return new AppError('content_type_unsupported', 'Send the body uncompressed.', {
    param: 'Content-Encoding',
  });
}

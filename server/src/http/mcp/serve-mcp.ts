import { createHttpHandler } from '@simplane/mcp';
import { createSimplane } from '@simplane/sdk';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../app-error.ts';
import type { Service } from '../../service.ts';
import { describeCause } from '../../telemetry/describe-cause.ts';
import { keyIn } from '../authenticate.ts';
import type { BodyReader } from '../read-body.ts';
import { checkOrigin } from './check-origin.ts';
import { fetchFrom } from './fetch-from.ts';

const path = '/mcp';
// Less than agents wait for a call, so that they hear why it failed.
const callTimeoutMs = 20_000;

/** Streamable HTTP for agents. What they do goes through the API like everybody’s requests: keys, scopes, limits, log. */
export function serveMcp(app: FastifyInstance, service: Service, bodies: BodyReader): void {
  const fetch = fetchFrom(app);
  const handler = createHttpHandler({
    connect: (apiKey) => createSimplane({ apiKey, fetch, timeoutMs: callTimeoutMs }),
    onError: (error) => service.log.info({ cause: describeCause(error) }, 'an mcp message failed'),
  });
  let closing: Promise<void> | null = null;

  // Before connections are waited for: an open stream would hold them up.
  app.addHook('preClose', (done) => {
    closing = handler.close();
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

  async function answer(request: FastifyRequest, reply: FastifyReply) {
    if (closing) {
      throw new AppError('unavailable', 'This process is shutting down.', {
        headers: { 'Retry-After': '1' },
      });
    }
    const gone = new AbortController();
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort();
    });
    // A stream’s head promised to keep the connection; at a shutdown that would hold it up.
    reply.raw.once('finish', () => {
      if (closing) request.raw.socket.destroySoon();
    });
    const response = await handler.handle(
      toWebRequest(request, gone.signal),
      keyIn(request.headers.authorization) ?? '',
    );
    return reply.header('Cache-Control', 'no-store').send(response);
  }
}

/** Headers that the protocol reads. The API key is left out: it is checked already, and nothing else should hold it. */
const isForwarded = (name: string) => name === 'accept' || name === 'content-type' || name.startsWith('mcp-');

function toWebRequest({ headers, body }: FastifyRequest, signal: AbortSignal): Request {
  const forwarded = Object.entries(headers)
    .filter(([name]) => isForwarded(name))
    .map(([name, value]) => [name, String(value)] as [string, string]);
  const bytes = new Uint8Array((body as Buffer | undefined) ?? Buffer.alloc(0));
  return new Request('http://localhost/mcp', { method: 'POST', headers: forwarded, body: bytes, signal });
}

/** The protocol has its own errors for bodies that are not as it wants them, so they arrive there as they are. */
function readRawJson(scope: FastifyInstance, bodies: BodyReader): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(/^application\/json\s*(;|$)/i, (request: FastifyRequest, payload, done) => {
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

import {
  type ApiVersion,
  currentApiVersion,
  describeScope,
  hasScope,
  type Operation,
  operations,
} from '@simplane/contract';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { KnownKey } from '../accounts/key-directory.ts';
import { AppError } from '../app-error.ts';
import { createKeysInFlight } from '../idempotency/keys-in-flight.ts';
import type { Service } from '../service.ts';
import { authenticate } from './authenticate.ts';
import { beginRequest, endRequest } from './bound-pipelining.ts';
import { type JsonBody, parseJsonBody } from './json-body.ts';
import { limitConnections } from './limit-connections.ts';
import { createStrangerLimit } from './limit-strangers.ts';
import { answerMalformed, refuseMalformed } from './malformed-requests.ts';
import { serveMcp } from './mcp/serve-mcp.ts';
import { serveDescription, serveOperationalRoutes } from './operational-routes.ts';
import { pinVersion } from './pin-version.ts';
import { createRateLimiter } from './rate-limit.ts';
import { type BodyReader, createBodyReader } from './read-body.ts';
import { createRecorder } from './record-request.ts';
import { renderError, toAppError } from './render-error.ts';
import { routes } from './routes.ts';
import { newRequestId, type ReadHandler, serveOperation, type WriteHandler } from './serve-operation.ts';
import { createUnreadAnswers, type UnreadAnswers } from './unread-answers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: KnownKey | null;
    apiVersion: ApiVersion;
    refusal: AppError | null;
    idempotency: 'fresh' | 'replayed' | null;
    startedMs: number;
  }
  interface FastifyContextConfig {
    operation?: Operation;
    /** Set on a route that is no operation and still asks for a key. */
    needsKey?: true;
    /** Set on the routes that only say which methods a path has. */
    allow?: string;
  }
}

const bodyLimitBytes = 256 * 1024;
const headBytes = 16 * 1024;

type Api = { operations: Record<string, Operation>; handlers: Record<string, unknown> };

/** The HTTP face of the service. `api` is the contract; tests add operations of their own to it. */
export function createApp(service: Service, api: Api = { operations, handlers: routes }): FastifyInstance {
  const { connectionsCut } = service.metrics;
  const held: HeldMemory = {
    bodies: createBodyReader(() => connectionsCut.inc({ reason: 'bodies' })),
    unread: createUnreadAnswers(() => connectionsCut.inc({ reason: 'unread' })),
  };
  const app = createServer(service);
  // An `Expect` that we do not know is left unfulfilled, not refused by Node in a form of its own.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  limitConnections(app.server, service);
  prepareRequests(app, service, held);
  followRequests(app, service, held);
  refuseUnknownRoutes(app);
  answerErrors(app, service);
  readJsonOnly(app, held.bodies);
  serveOperationalRoutes(app, service);
  if (service.role !== 'worker') {
    serveDescription(app, service);
    serveApi(app, service, api, held.bodies);
  }
  return app;
}

/** What clients can make a process hold, each within a budget. */
type HeldMemory = { bodies: BodyReader; unread: UnreadAnswers };

function createServer(service: Service): FastifyInstance {
  return fastify({
    // One line a request is written by `record-request.ts`; a child logger a request costs more than the line.
    logger: false,
    genReqId: () => newRequestId(service),
    bodyLimit: bodyLimitBytes,
    routerOptions: { maxParamLength: headBytes }, // an id of any length is looked for, and not found
    keepAliveTimeout: 72_000, // above the usual 60 s of proxies, so that they close first
    requestTimeout: service.requestTimeoutMs,
    http: {
      headersTimeout: service.headersTimeoutMs,
      // How often stalled clients are looked for; Node's own 30 s would stretch every limit by as much.
      connectionsCheckingInterval: Math.min(1_000, service.headersTimeoutMs),
      maxHeaderSize: headBytes,
      requireHostHeader: false, // refused by us, in our form
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // No hook runs for these, so they take their turn here.
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const { socket } = request.raw;
      reply.raw.on('close', () => endRequest(socket));
      const isTaken = beginRequest(socket, () => {
        const { status, headers, body } = refuseMalformed(service, request.id, toAppError(error));
        reply.code(status).headers(headers).send(body);
      });
      if (!isTaken) service.metrics.connectionsCut.inc({ reason: 'pipelining' });
    },
    clientErrorHandler: (error, socket) => answerMalformed(service, error, socket),
  });
}

function prepareRequests(app: FastifyInstance, service: Service, { unread }: HeldMemory): void {
  app.decorateRequest('caller', null);
  app.decorateRequest('apiVersion', currentApiVersion);
  app.decorateRequest('refusal', null);
  app.decorateRequest('idempotency', null);
  app.decorateRequest('startedMs', 0);
  app.decorateRequest('heldBody', null);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('Request-Id', request.id);
    reply.header('Service-Version', request.apiVersion);
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // A connection that was kept alive past a shutdown would hold it up until the client lets go.
    if (service.isStopping()) reply.header('Connection', 'close');
    if (typeof payload === 'string') unread.add(request.raw.socket, payload.length);
    done(null, payload);
  });
}

/** All that happens at a request's end, in one place: a listener for each cost a hundredth of an order. */
function followRequests(app: FastifyInstance, service: Service, { bodies, unread }: HeldMemory): void {
  const record = createRecorder(service);
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    request.startedMs = performance.now(); // Fastify’s own clock runs only with its logger
    let wasSent = false;
    reply.raw.on('finish', () => {
      wasSent = true;
    });
    // `close` comes after the last byte, and also when the client went away before it.
    reply.raw.on('close', () => {
      record(request, reply, wasSent);
      bodies.release(request);
      unread.remove(socket);
      endRequest(socket);
    });
    if (!beginRequest(socket, done)) service.metrics.connectionsCut.inc({ reason: 'pipelining' });
  });
}

/** Before anything else of the request is looked at: the key and the body matter only where there is something to reach. */
function refuseUnknownRoutes(app: FastifyInstance): void {
  app.setNotFoundHandler(() => Promise.reject(new Error('the hook below refuses first')));
  app.addHook('onRequest', (request, _reply, done) => done(refusalOf(request)));
}

function refusalOf(request: FastifyRequest): AppError | undefined {
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
    return new AppError('request_malformed', 'An HTTP/1.1 request has a Host header.');
  }
  if (request.is404) {
    const path = request.url.split('?', 1)[0]?.slice(0, 100);
    return new AppError(
      'route_missing',
      `There is nothing at ${request.method} ${path}; /docs lists what there is.`,
    );
  }
  const { allow } = request.routeOptions.config;
  if (!allow) return undefined;
  return new AppError('method_not_allowed', `${request.method} is not possible here; ${allow} is.`, {
    headers: { Allow: allow },
  });
}

function answerErrors(app: FastifyInstance, service: Service): void {
  app.setErrorHandler((thrown, request, reply) => {
    const refusal = toAppError(thrown);
    request.refusal = refusal;
    const { status, headers, body } = renderError(refusal, request.id, service.publicUrl());
    return reply.code(status).headers(headers).type('application/json').send(body);
  });
}

function readJsonOnly(app: FastifyInstance, bodies: BodyReader): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/json\s*(;|$)/i, (request: FastifyRequest, payload, done) => {
    bodies.read(request, payload, (error, body) => {
      if (!body) return done(error);
      const [refusal, value] = attempt(() => readBody(request, body));
      done(refusal, value);
    });
  });
}

function readBody({ headers }: FastifyRequest, body: Buffer): JsonBody {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new AppError('content_type_unsupported', 'Send the body uncompressed.', {
      param: 'Content-Encoding',
    });
  }
  return parseJsonBody(body, { isCanonicalWanted: headers['idempotency-key'] !== undefined });
}

/** For Fastify's callbacks, which are cheaper than its promises and must not throw. */
function attempt<T>(work: () => T): [error: Error, value: undefined] | [error: null, value: T] {
  try {
    return [null, work()];
  } catch (error) {
    return [error as Error, undefined];
  }
}

function serveApi(app: FastifyInstance, service: Service, api: Api, bodies: BodyReader): void {
  const limiter = createRateLimiter(service.rateLimitPerSecond);
  const strangers = createStrangerLimit(service.unknownKeysPerSecond);
  const parts = { service, keysInFlight: createKeysInFlight() };

  app.addHook('onRequest', (request, reply, done) => {
    const { operation, needsKey } = request.routeOptions.config;
    if (!operation && !needsKey) {
      done();
      return;
    }
    const { socket } = request.raw;
    const [error, caller] = attempt(() =>
      authenticate(service, request.headers.authorization, { socket, strangers }),
    );
    if (error) done(error);
    else if (caller instanceof Promise) {
      caller.then((known) => admit(request, reply, known)).then(() => done(), done);
    } else {
      const [refusal] = attempt(() => admit(request, reply, caller));
      done(refusal ?? undefined);
    }
  });

  function admit(request: FastifyRequest, reply: FastifyReply, caller: KnownKey): void {
    const { operation } = request.routeOptions.config;
    request.caller = caller;
    reply.headers(limiter.take(caller.apiKey.uuid));
    request.apiVersion = pinVersion(request.headers['service-version'], caller.account.apiVersion);
    reply.header('Service-Version', request.apiVersion);
    if (operation && !hasScope(caller.apiKey.scopes, operation.scope)) {
      const { scopes } = caller.apiKey;
      throw new AppError(
        'scope_missing',
        `This needs ${describeScope(operation.scope)}; the key has ${scopes.join(', ')}. A key that may do this is made with \`simplane-server keys create --scopes ${[...scopes, operation.scope].join(',')}\`.`,
      );
    }
  }

  for (const [id, definition] of Object.entries(api.operations)) {
    serveOperation(app, parts, definition, api.handlers[id] as ReadHandler | WriteHandler);
  }
  refuseOtherMethods(app, Object.values(api.operations));
  serveMcp(app, service, bodies);
}

function refuseOtherMethods(app: FastifyInstance, definitions: Operation[]): void {
  for (const path of new Set(definitions.map((definition) => definition.path))) {
    const ofPath = definitions.filter((definition) => definition.path === path);
    const allowed = new Set<string>(ofPath.map(({ method }) => method));
    if (allowed.has('GET')) allowed.add('HEAD');
    const others = app.supportedMethods.filter((method) => !allowed.has(method));
    app.route({
      method: others,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { allow: [...allowed].join(', ') },
      handler: () => Promise.reject(new Error('refused before the handler')),
    });
  }
}

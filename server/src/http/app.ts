import type { IncomingMessage } from 'node:http';
import { type Operation, operations } from '@simplane/contract';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Service } from '../background/service.ts';
import { AppError } from '../platform/app-error.ts';
import { createKeysInFlight } from '../platform/idempotency/keys-in-flight.ts';
import { createAdmission } from './admit.ts';
import { authenticate } from './authenticate.ts';
import { beginRequest, endRequest } from './bound-pipelining.ts';
import { createAddressReader } from './client-address.ts';
import { compressAnswer, compressedFromBytes } from './compress-answer.ts';
import { authenticateSession } from './dashboard/authenticate-session.ts';
import { checkHost } from './dashboard/check-host.ts';
import { isDashboard, isDashboardCall, routeOf } from './dashboard/paths.ts';
import { serveDashboard } from './dashboard/serve-dashboard.ts';
import { createDatabaseShares } from './database-shares.ts';
import { discardRest } from './discard-rest.ts';
import { ignoreEmptyBody, isJsonType } from './empty-body.ts';
import { isFeed, serveFeeds } from './feed/serve-feed.ts';
import { serveInstallPages } from './install/serve-install-pages.ts';
import { type JsonBody, parseJsonBody } from './json-body.ts';
import { type ConnectionLimits, limitConnections } from './limit-connections.ts';
import { answerMalformed, refuseMalformed } from './malformed-requests.ts';
import { serveMcp } from './mcp/serve-mcp.ts';
import { serveDescription, serveOperationalRoutes } from './operational-routes.ts';
import { operatorRoutes } from './operator-routes.ts';
import { createRefusalPace, type RefusalPace } from './pace-refusals.ts';
import { type BodyReader, createBodyReader } from './read-body.ts';
import { createRecorder } from './record-request.ts';
import { refuseUnknownRoutes } from './refuse-routes.ts';
import { renderError, toAppError } from './render-error.ts';
import { addRequestFields } from './request-fields.ts';
import { routes } from './routes.ts';
import { newRequestId, type ReadHandler, serveOperation, type WriteHandler } from './serve-operation.ts';
import { createUnknownKeyLimit } from './unknown-key-limit.ts';
import { createUnreadAnswers, type UnreadAnswers } from './unread-answers.ts';

const bodyLimitBytes = 256 * 1024;
const maxHeaderBytes = 16 * 1024;

type Api = { operations: Record<string, Operation>; handlers: Record<string, unknown> };

/** The HTTP server. `api` is the contract; tests add their own operations to it. */
export function createApp(
  service: Service,
  api: Api = { operations, handlers: { ...routes, ...operatorRoutes } },
): FastifyInstance {
  const { connectionsCut } = service.metrics;
  const held: HeldMemory = {
    bodies: createBodyReader(() => connectionsCut.inc({ reason: 'bodies' })),
    unread: createUnreadAnswers(() => connectionsCut.inc({ reason: 'unread' })),
  };
  const app = createServer(service);
  // Ignore an unknown `Expect` header; Node would answer 417 without our error body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  const connections = limitConnections(app.server, service);
  prepareRequests(app, service, held);
  followRequests(app, service, api, { ...held, connections });
  refuseUnknownRoutes(app, service);
  const pace = createRefusalPace();
  answerErrors(app, service, pace);
  readJsonOnly(app, held.bodies);
  serveOperationalRoutes(app, service);
  if (service.role !== 'worker') {
    serveDescription(app, service);
    serveApi(app, service, api, held);
    serveInstallPages(app, service, pace);
  }
  return app;
}

/** Memory that clients can make the process hold, each part with its own budget. */
type HeldMemory = { bodies: BodyReader; unread: UnreadAnswers };

function createServer(service: Service): FastifyInstance {
  // Enough for a body of 256 kB on a bad mobile line, and short enough that stalled clients do not add up.
  const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000 } = service;
  return fastify({
    rewriteUrl: ({ url = '/' }: IncomingMessage) => (service.hasDashboard ? routeOf(url) : url),
    // `record-request.ts` writes one line per request; Fastify's child logger per request costs more than the line.
    logger: false,
    genReqId: () => newRequestId(service),
    bodyLimit: bodyLimitBytes,
    routerOptions: { maxParamLength: maxHeaderBytes }, // an overlong id gets the usual "not found"
    keepAliveTimeout: 72_000, // longer than the usual 60 s of proxies, so that they close first
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs), // Node refuses a longer one
      // How often Node checks for stalled clients; its default of 30 s would extend every timeout by that much.
      connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs),
      maxHeaderSize: maxHeaderBytes,
      requireHostHeader: false, // checked below, with our error body
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // No hook runs for these, so pipelining is bounded here.
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const isTaken = beginRequest(request, () => {
        reply.raw.on('close', () => endRequest(request.raw.socket));
        const { status, headers, body } = refuseMalformed(service, request.id, toAppError(error));
        reply.code(status).headers(headers).send(body);
      });
      if (!isTaken) service.metrics.connectionsCut.inc({ reason: 'pipelining' });
    },
    clientErrorHandler: (error, socket) => answerMalformed(service, error, socket),
  });
}

function prepareRequests(app: FastifyInstance, service: Service, { unread }: HeldMemory): void {
  addRequestFields(app);
  const setAddress = createAddressReader(service.trustedProxies);
  app.addHook('onRequest', (request, reply, done) => {
    setAddress(request);
    reply.header('Request-Id', request.id);
    reply.header('Service-Version', request.apiVersion);
    reply.header('X-Content-Type-Options', 'nosniff');
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // A kept-alive connection would delay the shutdown until the client closes it.
    if (service.isStopping()) reply.header('Connection', 'close');
    if (typeof payload !== 'string') return done(null, payload);
    if (payload.length < compressedFromBytes) return done(null, payload);
    compressAnswer(request, reply, payload, (bytes) => {
      unread.add(request, Buffer.byteLength(bytes));
      done(null, bytes);
    });
  });
}

/** Handles the end of a request in one listener: separate listeners cost 1 % of an order. */
function followRequests(
  app: FastifyInstance,
  service: Service,
  api: Api,
  { bodies, unread, connections }: HeldMemory & { connections: ConnectionLimits },
): void {
  const record = createRecorder(service, api.operations);
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    request.startedMs = performance.now(); // Fastify measures the time only with its logger
    const begin = () => {
      connections.beginRequest(request);
      let wasSent = false;
      reply.raw.on('finish', () => {
        wasSent = true;
      });
      // `close` fires after the last byte, and also if the client disconnects before it. Node 24 emits it for requests that never
      // began, too, so it is listened to only from here on.
      reply.raw.on('close', () => {
        record(request, reply, wasSent);
        bodies.release(request);
        unread.end(request);
        connections.endRequest(request);
        endRequest(socket);
      });
      done();
    };
    if (!beginRequest(request, begin)) service.metrics.connectionsCut.inc({ reason: 'pipelining' });
  });
}

function answerErrors(app: FastifyInstance, service: Service, pace: RefusalPace): void {
  app.addHook('preClose', (done) => {
    pace.end();
    done();
  });
  app.setErrorHandler((thrown, request, reply) => {
    const refusal = toAppError(thrown);
    request.refusal = refusal;
    if (request.raw.complete === false) {
      reply.removeHeader('connection'); // Fastify asks for `close` after an unread body
      discardRest(request.raw);
    }
    const { status, headers, body } = renderError(refusal, request.id, service.publicUrl());
    pace.answer(request, reply, refusal, () => {
      reply.code(status).headers(headers).type('application/json').send(body);
    });
  });
}

function readJsonOnly(app: FastifyInstance, bodies: BodyReader): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(isJsonType, (request: FastifyRequest, payload, done) => {
    bodies.read(request, payload, (error, body) => {
      if (!body) return done(error);
      const [refusal, value] = attempt(() => readBody(request, body));
      done(refusal, value);
    });
  });
}

function readBody({ headers }: FastifyRequest, body: Buffer): JsonBody {
  const encoding = headers['content-encoding'];
  if (body.length > 0 && encoding !== undefined && encoding !== 'identity') {
    throw new AppError('content_type_unsupported', 'Send the body uncompressed.', {
      param: 'Content-Encoding',
    });
  }
  return parseJsonBody(body, { isCanonicalWanted: headers['idempotency-key'] !== undefined });
}

/** For Fastify's callbacks, which must not throw. They are cheaper than its promises. */
function attempt<T>(work: () => T): [error: Error, value: undefined] | [error: null, value: T] {
  try {
    return [null, work()];
  } catch (error) {
    return [error as Error, undefined];
  }
}

function serveApi(app: FastifyInstance, service: Service, api: Api, { bodies, unread }: HeldMemory): void {
  const { admit, takeToken } = createAdmission(service);
  const unknownKeys = createUnknownKeyLimit(service.unknownKeysPerSecond);
  const parts = {
    service,
    shares: createDatabaseShares(service.db),
    keysInFlight: createKeysInFlight(),
    unread,
  };

  if (service.hasDashboard) {
    app.addHook('onRequest', (request, _reply, done) => {
      const [refusal] = attempt(() => isDashboard(request) && checkHost(service, request));
      done(refusal ?? undefined);
    });
  }

  app.addHook('onRequest', (request, reply, done) => {
    const { operation, needsKey } = request.routeOptions.config;
    if (!operation && !needsKey) {
      done();
      return;
    }
    // The mount for agents answers empty bodies itself.
    const readOn = () => (operation ? ignoreEmptyBody(request.raw) : null);
    const [error, caller] = attempt(() =>
      service.hasDashboard && isDashboardCall(request)
        ? authenticateSession(service, request)
        : authenticate(service, request.headers.authorization, { address: request.ip, unknownKeys }),
    );
    if (error) done(error);
    else if (caller instanceof Promise) {
      caller
        .then((known) => admit(request, reply, known))
        .then(readOn)
        .then(() => done(), done);
    } else {
      const [refusal, admitting] = attempt(() => admit(request, reply, caller));
      const waiting = refusal ? null : admitting ? admitting.then(readOn) : readOn();
      if (waiting) waiting.then(() => done(), done);
      else done(refusal ?? undefined);
    }
  });

  serveFeeds(app, service, Object.values(api.operations).filter(isFeed), unread);
  for (const [id, definition] of Object.entries(api.operations)) {
    if (isFeed(definition)) continue;
    serveOperation(app, parts, definition, api.handlers[id] as ReadHandler | WriteHandler);
  }
  serveMcp(app, service, bodies);
  if (service.hasDashboard) serveDashboard(app, service, { unknownKeys, takeToken });
}

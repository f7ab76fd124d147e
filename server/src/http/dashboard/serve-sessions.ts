import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { KnownKey } from '../../accounts/key-directory.ts';
import { AppError } from '../../app-error.ts';
import { endSession } from '../../dashboard/end-session.ts';
import { keyHashOfLink } from '../../dashboard/find-key.ts';
import { sessionMs, startSession } from '../../dashboard/start-session.ts';
import { csrfTokenOf } from '../../dashboard/token.ts';
import type { Service } from '../../service.ts';
import { authenticate, requireUsable } from '../authenticate.ts';
import type { JsonBody } from '../json-body.ts';
import { createUnknownKeyLimit, type UnknownKeyLimit } from '../unknown-key-limit.ts';
import { authenticateSession, knownKey } from './authenticate-session.ts';
import { checkOwnOrigin } from './check-host.ts';
import { readSessionToken, sessionCookie } from './session-cookie.ts';

const path = '/dashboard/api/session';

// A key or a link has less than 100 bytes. The body is read before it is known who sends it.
const bodyLimitBytes = 4 * 1024;

/** A sign-in counts against the key's rate, and a made-up key against that of unknown keys. */
export type SignInLimits = {
  unknownKeys: UnknownKeyLimit;
  takeToken(caller: KnownKey): Record<string, string>;
};

/** Signing in and out. Everything else that the page does is an operation of `/v1`. */
export function serveSessions(app: FastifyInstance, service: Service, limits: SignInLimits): void {
  const { unknownKeys, takeToken } = limits;
  // Counted apart from keys, so that somebody who guesses keys does not lock out a link from the same address.
  const unknownLinks = createUnknownKeyLimit(service.unknownKeysPerSecond, { of: 'sign-in links' });
  const onRequest = async (request: FastifyRequest) => checkOwnOrigin(request);

  app.post(path, { bodyLimit: bodyLimitBytes, onRequest }, async (request, reply) => {
    const { api_key: key, link } = bodyOf(request);
    if (typeof link === 'string') return signInWithLink(request, reply, link);
    if (typeof key !== 'string' || key === '') {
      throw new AppError('parameter_missing', 'Send the API key to sign in with.', { param: 'api_key' });
    }
    const bearer = `Bearer ${key}`;
    const caller = await authenticate(service, bearer, { address: request.ip, unknownKeys });
    return start(request, reply, caller);
  });

  app.get(path, async (request, reply) => {
    const token = readSessionToken(request);
    const caller = token === null ? null : await authenticateSession(service, request).catch(endedAsNull);
    // Not an error: a browser would log one each time that the page is opened.
    return caller && token !== null ? send(reply, caller, token) : reply.code(204).send();
  });

  app.delete(path, async (request, reply) => {
    await authenticateSession(service, request);
    const token = readSessionToken(request);
    if (token !== null) await endSession(service.db, token);
    reply.header('Set-Cookie', sessionCookie(request, { token: '', maxAgeSeconds: 0 }));
    return reply.code(204).send();
  });

  async function signInWithLink(request: FastifyRequest, reply: FastifyReply, link: string) {
    unknownLinks.take(request.ip);
    const keyHash = await keyHashOfLink(service.db, service.clock, link);
    const known = keyHash && (await knownKey(service, keyHash));
    if (!known) throw linkSpent();
    unknownLinks.refund(request.ip);
    return start(request, reply, requireUsable(service, known, request.ip), link);
  }

  async function start(request: FastifyRequest, reply: FastifyReply, caller: KnownKey, link?: string) {
    reply.headers(takeToken(caller));
    const { clock, newUuid, db } = service;
    const deps = { clock, newUuid, requestId: request.id, ip: request.ip };
    const session = await startSession(db, deps, caller, link);
    if (!session) throw linkSpent();
    const maxAgeSeconds = sessionMs(caller.apiKey) / 1_000;
    reply.header('Set-Cookie', sessionCookie(request, { token: session.token, maxAgeSeconds }));
    return send(reply.code(201), caller, session.token);
  }

  function send(reply: FastifyReply, { apiKey }: KnownKey, token: string) {
    reply.header('Cache-Control', 'no-store');
    return reply.send({ object: 'session', csrf_token: csrfTokenOf(token), scopes: apiKey.scopes });
  }
}

function endedAsNull(error: unknown): null {
  if (error instanceof AppError && error.status === 401) return null;
  throw error;
}

function bodyOf(request: FastifyRequest): Record<string, unknown> {
  return (request.body as JsonBody | undefined)?.value ?? {};
}

function linkSpent(): AppError {
  return new AppError(
    'session_expired',
    'This link was already used, or it is older than ten minutes. Get a new one, or sign in with an API key.',
    { param: 'link', headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}

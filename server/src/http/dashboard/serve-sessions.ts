import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hexHashOf } from '../../accounts/api-key-text.ts';
import type { KnownKey } from '../../accounts/key-directory.ts';
import { endSession } from '../../accounts/sessions/end-session.ts';
import { keyHashOfLink } from '../../accounts/sessions/find-key.ts';
import { startSession } from '../../accounts/sessions/start-session.ts';
import { csrfTokenOf } from '../../accounts/sessions/token.ts';
import type { Service } from '../../background/service.ts';
import { AppError } from '../../platform/app-error.ts';
import { labelOf, requireOwnCell } from '../../platform/cell.ts';
import { authenticate, requireUsable } from '../authenticate.ts';
import type { JsonBody } from '../json-body.ts';
import { createUnknownKeyLimit, type UnknownKeyLimit } from '../unknown-key-limit.ts';
import { authenticateSession, knownKey } from './authenticate-session.ts';
import { checkOwnOrigin } from './check-host.ts';
import { createRefusedSignIns } from './refused-sign-ins.ts';
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
  const noteRefusal = createRefusedSignIns(service);
  const onRequest = async (request: FastifyRequest) => checkOwnOrigin(request);

  app.post(path, { bodyLimit: bodyLimitBytes, onRequest }, async (request, reply) => {
    const { api_key: key, link } = bodyOf(request);
    if (typeof link === 'string') return signInWithLink(request, reply, link);
    if (typeof key !== 'string' || key === '') {
      throw new AppError('parameter_missing', 'Send the API key to sign in with.', { param: 'api_key' });
    }
    return start(request, reply, await authenticateKey(request, key));
  });

  app.get(path, async (request, reply) => {
    const token = readSessionToken(request);
    const caller = token === null ? null : await authenticateSession(service, request).catch(endedAsNull);
    // Not an error: a browser would log one each time that the page is opened.
    return caller && token !== null ? send(reply, caller, token) : reply.code(204).send();
  });

  app.delete(path, async (request, reply) => {
    const caller = await authenticateSession(service, request);
    const token = readSessionToken(request);
    if (token !== null) await endSession(service.db, originOf(request), caller, token);
    reply.header('Set-Cookie', sessionCookie(request, { token: '', maxAgeSeconds: 0 }));
    return reply.code(204).send();
  });

  async function authenticateKey(request: FastifyRequest, key: string): Promise<KnownKey> {
    try {
      return await authenticate(service, `Bearer ${key}`, { address: request.ip, unknownKeys });
    } catch (error) {
      // Cached by the look-up that has just failed.
      await noteRefusal(request, error, (await service.keys.recall(hexHashOf(key))) ?? null);
      throw error;
    }
  }

  async function signInWithLink(request: FastifyRequest, reply: FastifyReply, link: string) {
    let known: KnownKey | null = null;
    try {
      unknownLinks.take(request.ip);
      const keyHash = await keyHashOfLink(service.db, service.clock, link);
      known = keyHash === null ? null : await knownKey(service, keyHash);
      if (!known) {
        requireOwnCell(service.cell, labelOf(link), 'This link');
        throw linkSpent();
      }
      unknownLinks.refund(request.ip);
      return await start(request, reply, requireUsable(service, known, request.ip), link);
    } catch (error) {
      await noteRefusal(request, error, known);
      throw error;
    }
  }

  async function start(request: FastifyRequest, reply: FastifyReply, caller: KnownKey, link?: string) {
    reply.headers(takeToken(caller));
    const userAgent = request.headers['user-agent'];
    const session = await startSession(service.db, originOf(request), caller, { userAgent, link });
    if (!session) throw linkSpent();
    const maxAgeSeconds = Math.floor(session.lastsMs / 1_000);
    reply.header('Set-Cookie', sessionCookie(request, { token: session.token, maxAgeSeconds }));
    return send(reply.code(201), caller, session.token);
  }

  function originOf({ id: requestId, ip }: FastifyRequest) {
    const { clock, newUuid, cell } = service;
    return { clock, newUuid, cell, requestId, ip, via: 'dashboard' as const };
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

import type { FastifyRequest } from 'fastify';
import type { KnownKey } from '../../accounts/key-directory.ts';
import { keyHashOfSession } from '../../accounts/sessions/find-key.ts';
import { hashOfToken, isCsrfToken } from '../../accounts/sessions/token.ts';
import type { Service } from '../../background/service.ts';
import { AppError } from '../../platform/app-error.ts';
import { labelOf, requireOwnCell } from '../../platform/cell.ts';
import { requireUsable } from '../authenticate.ts';
import { checkOwnOrigin } from './check-host.ts';
import { readSessionToken } from './session-cookie.ts';

/** Returns the key that the session was started with. A write also needs our own `Origin` and the session's CSRF token. */
export async function authenticateSession(service: Service, request: FastifyRequest): Promise<KnownKey> {
  const token = readSessionToken(request);
  if (token === null) throw sessionEnded();
  if (request.method !== 'GET' && request.method !== 'HEAD') checkWrite(request, token);
  const hash = hashOfToken(token);
  const keyHash = await keyHashOfSession(service.db, service.clock, hash);
  if (keyHash === null) {
    requireOwnCell(service.cell, labelOf(token), 'This session');
    throw sessionEnded();
  }
  request.session = { hash, keyHash };
  const known = await knownKey(service, keyHash);
  if (!known) throw sessionEnded();
  return requireUsable(service, known, request.ip);
}

/** Throws unless a write comes from our own page. */
function checkWrite(request: FastifyRequest, token: string): void {
  checkOwnOrigin(request);
  if (isCsrfToken(request.headers['x-csrf-token'], token)) return;
  throw new AppError(
    'csrf_token_invalid',
    'X-CSRF-Token is missing or is not the token of this session: reload the page. Programs use /v1 with an API key.',
    { param: 'X-CSRF-Token' },
  );
}

export async function knownKey({ keys }: Service, hash: string): Promise<KnownKey | null> {
  return (await keys.recall(hash)) ?? keys.lookUp(hash);
}

function sessionEnded(): AppError {
  return new AppError('session_expired', 'Nobody is signed in, or the session has ended. Sign in again.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}

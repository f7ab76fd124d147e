import type { FastifyRequest } from 'fastify';
import { isLoopback } from './check-host.ts';

type Session = { token: string; maxAgeSeconds: number };

export function readSessionToken(request: FastifyRequest): string | null {
  const name = nameOf(request);
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value) return value;
  }
  return null;
}

/** Browsers accept a name with `__Host-` only from this host over TLS, for all paths: no other host or page can set it. */
export function sessionCookie(request: FastifyRequest, { token, maxAgeSeconds }: Session): string {
  const place = isPlain(request) ? 'Path=/dashboard' : 'Path=/; Secure';
  return `${nameOf(request)}=${token}; ${place}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`;
}

/** The port is part of the name, because browsers share cookies between the ports of a host. */
function nameOf(request: FastifyRequest): string {
  if (isPlain(request)) return `simplane_session_${request.raw.socket.localPort ?? 0}`;
  const [, port] = /:(\d{1,5})$/.exec(request.headers.host ?? '') ?? [];
  return port === undefined ? '__Host-simplane_session' : `__Host-simplane_session_${port}`;
}

/** Plain HTTP on this machine, where browsers would not store a `Secure` cookie. */
function isPlain({ headers, protocol }: FastifyRequest): boolean {
  return isLoopback(headers.host) && protocol === 'http';
}

import type { FastifyRequest } from 'fastify';
import { isLoopback } from './check-host.ts';

type Session = { token: string; maxAgeSeconds: number };

/** The port is part of the name, because browsers share cookies between the ports of a host. */
function nameOf({ raw }: FastifyRequest): string {
  return `simplane_session_${raw.socket.localPort ?? 0}`;
}

export function readSessionToken(request: FastifyRequest): string | null {
  const name = nameOf(request);
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value) return value;
  }
  return null;
}

/** `Secure` unless it is plain HTTP on this machine, where browsers would not store it. */
export function sessionCookie(request: FastifyRequest, { token, maxAgeSeconds }: Session): string {
  const secure = isLoopback(request.headers.host) && request.protocol === 'http' ? '' : '; Secure';
  return `${nameOf(request)}=${token}; Path=/dashboard; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { readSessionToken, sessionCookie } from './session-cookie.ts';

type Sent = { host?: string; protocol?: string; cookie?: string };

function requestOf({ host, protocol = 'http', cookie }: Sent): FastifyRequest {
  const headers = { ...(host !== undefined && { host }), ...(cookie !== undefined && { cookie }) };
  return { headers, protocol, raw: { socket: { localPort: 3000 } } } as unknown as FastifyRequest;
}

const session = { token: 'abc', maxAgeSeconds: 60 };

test.each<[Sent, string]>([
  [{ host: 'localhost:3000' }, 'simplane_session_3000=abc; Path=/dashboard; Max-Age=60'],
  [{ host: '127.0.0.1' }, 'simplane_session_3000=abc; Path=/dashboard; Max-Age=60'],
  [{ host: 'localhost', protocol: 'https' }, '__Host-simplane_session=abc; Path=/; Secure; Max-Age=60'],
  [{ host: 'esim.example' }, '__Host-simplane_session=abc; Path=/; Secure; Max-Age=60'],
  [{ host: 'esim.example:8443' }, '__Host-simplane_session_8443=abc; Path=/; Secure; Max-Age=60'],
  [{}, '__Host-simplane_session=abc; Path=/; Secure; Max-Age=60'],
])('%j gets the cookie %s', (sent, cookie) => {
  expect(sessionCookie(requestOf(sent), session)).toBe(`${cookie}; HttpOnly; SameSite=Strict`);
});

test.each([
  ['simplane_session_3000=abc', 'abc'],
  ['other=1; simplane_session_3000=abc; more=2', 'abc'],
  ['other=1;simplane_session_3000=abc', 'abc'],
  ['simplane_session_3000=; simplane_session_3000=abc', 'abc'],
  ['simplane_session_3000=', null],
  ['simplane_session_3001=abc', null],
  ['xsimplane_session_3000=abc', null],
  ['__Host-simplane_session=abc', null],
  ['simplane_session_3000', null],
  [undefined, null],
])('of the cookies %s, the session at this port is %s', (cookie, token) => {
  const sent = { host: 'localhost:3000', ...(cookie !== undefined && { cookie }) };
  expect(readSessionToken(requestOf(sent))).toBe(token);
});

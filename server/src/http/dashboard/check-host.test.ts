import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { checkHost, checkOwnOrigin } from './check-host.ts';
import { isDashboard, isDashboardCall, routeOf } from './paths.ts';

const requestOf = (headers: Record<string, string>) => ({ headers }) as unknown as FastifyRequest;
const service = { publicUrl: () => 'https://esim.example:8443/base' };

test.each(['localhost', 'LOCALHOST:3000', '127.0.0.1:80', '[::1]', '[::1]:65535', 'esim.example:8443'])(
  'the dashboard is served under %s',
  (host) => {
    expect(() => checkHost(service, requestOf({ host }))).not.toThrow();
  },
);

test.each([
  undefined,
  '',
  'esim.example',
  'esim.example:443',
  'localhost:123456',
  '127.0.0.2',
  'x.localhost',
  '::1',
])('the dashboard is not served under %s', (host) => {
  const request = requestOf(host === undefined ? {} : { host });
  expect(() => checkHost(service, request)).toThrow('not served under this host name');
});

test('a page is our own if its origin is the host that it asks, with the port', () => {
  const host = 'esim.example:8443';
  const check = (headers: Record<string, string>) => () => checkOwnOrigin(requestOf(headers));
  expect(check({ host, origin: `https://${host}` })).not.toThrow();
  for (const origin of ['https://esim.example', `https://evil.example/${host}`, 'null', host, ''])
    expect(check({ host, origin }), origin).toThrow('own page');
  expect(check({ host })).toThrow('own page');
  expect(check({ origin: `https://${host}` })).toThrow('own page');
});

test('a path is the dashboard’s by its first part, and a call of its page by the one below it', () => {
  const asked = (originalUrl: string, url?: string) => isDashboard({ originalUrl, routeOptions: { url } });
  for (const path of ['/dashboard', '/dashboard/', '/dashboard?a=1', '/dashboard#a', '/dashboard/api/v1/me'])
    expect(asked(path), path).toBe(true);
  for (const path of ['/', '/dashboards', '/v1/dashboard', '/v1/me']) expect(asked(path), path).toBe(false);
  expect(asked('/%64ashboard', '/dashboard')).toBe(true);
  const calls = ['/dashboard/api/v1/me', '/dashboard/api/session', '/dashboard/apis', '/v1/me'];
  expect(calls.map((originalUrl) => isDashboardCall({ originalUrl }))).toEqual([true, true, false, false]);
  expect(['/dashboard/api/v1/me?a=1', '/dashboard/api/session', '/v1/me'].map(routeOf)).toEqual([
    ...['/v1/me?a=1', '/dashboard/api/session', '/v1/me'],
  ]);
});

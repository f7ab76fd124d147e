import type { IncomingMessage } from 'node:http';
import { request, type Server } from 'node:https';
import { Server as TcpServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { createTls } from '../../../test/support/smdp-setup.ts';
import { parseNotificationMap } from '../notification-map.ts';
import { createEs2Listener } from './listener.ts';

// Node closes what is above these limits. A test with so many connections would race with their handshakes' time limit.
test('the port for notifications bounds what a connection may cost, whoever opens it', async () => {
  const { server: own, authority } = createTls();
  const listen = vi.spyOn(TcpServer.prototype, 'listen');
  const { stop } = await createEs2Listener({
    ...{ host: '127.0.0.1', port: 0, subjects: null, protocolVersion: '2.2.0', notificationMap: new Map() },
    tls: { ...own, clientCa: authority.pem },
    now: () => new Date(),
    onEvent() {},
  }).start(async () => true);
  const [server] = listen.mock.contexts as Server[];
  listen.mockRestore();
  await stop(0);
  expect(server).toMatchObject({
    maxConnections: 1_000,
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 15_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 60_000,
    minVersion: 'TLSv1.2',
  });
  const timeout = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'handshake-timeout',
  );
  expect(Reflect.get(server as Server, timeout as symbol)).toBe(10_000);
});

const tls = createTls();
const path = '/gsma/rsp2/es2plus/handleDownloadProgressInfo';
type Take = Parameters<ReturnType<typeof createEs2Listener>['start']>[0];

const tlsOf = ({ server, authority }: typeof tls) => ({ ...server, clientCa: authority.pem });

function create(port = 0) {
  const told: [string, object][] = [];
  const at = { port: 0 };
  const listener = createEs2Listener({
    ...{ host: '127.0.0.1', port, tls: tlsOf(tls), subjects: null, protocolVersion: '2.2.0' },
    notificationMap: parseNotificationMap('3=downloaded') ?? new Map(),
    now: () => new Date(),
    onEvent: (outcome, details) => void told.push([outcome, details]),
    onListening: (listening) => {
      at.port = listening;
    },
  });
  return { listener, told, at };
}

async function listen(take: Take) {
  const { listener, told, at } = create();
  return { ...(await listener.start(take)), told, port: at.port };
}

function send(port: number, body: string, { to = path, by = tls } = {}): Promise<IncomingMessage> {
  const { cert, key } = by.client;
  return new Promise((resolve, reject) => {
    const headers = { connection: 'keep-alive' };
    const options = { host: '127.0.0.1', port, path: to, method: 'POST', agent: false, headers } as const;
    const made = request({ ...options, cert, key, ca: by.authority.pem }, (response) => {
      response.resume();
      resolve(response);
    });
    made.on('error', reject).end(body);
  });
}

const notification = (iccid: string, notificationPointId: number) =>
  JSON.stringify({
    ...{ iccid, profileType: 'x', timestamp: '2026-01-02T03:04:05Z', notificationPointId },
    notificationPointStatus: { status: 'Executed-Success' },
  });
const [known, unknown, unlucky] = ['8999901000000000018', '8999901000000000026', '8999901000000000034'];

test('each notification is reported with what became of it, and answered so that only a failure is sent again', async () => {
  const { port, told, stop } = await listen(async ({ iccid }) => {
    if (iccid === unlucky) throw new Error('the database is away');
    return iccid === known;
  });
  const statuses: unknown[] = [];
  for (const body of [
    notification(known, 3),
    notification(unknown, 3),
    notification(known, 9),
    '{}',
    notification(unlucky, 3),
  ])
    statuses.push((await send(port, body)).statusCode);
  await stop(0);
  expect(statuses).toEqual([204, 204, 204, 400, 500]);
  expect(told).toEqual([
    ['applied', { iccid: known, notification_point_id: 3 }],
    ['unknown_iccid', { iccid: unknown, notification_point_id: 3 }],
    ['ignored', { iccid: known, notification_point_id: 9 }],
    ['malformed', { why: 'iccid is missing' }],
    ['failed', { error: 'the database is away' }],
  ]);
});

test('a notification has up to 64 KiB, and its path may have a query', async () => {
  const { port, stop } = await listen(async () => true);
  const body = notification(known, 3).padEnd(64 * 1024, ' ');
  expect((await send(port, body, { to: `${path}?from=smdp` })).statusCode).toBe(204);
  const { statusCode, headers } = await send(port, `${body} `);
  expect([statusCode, headers.connection]).toEqual([413, 'close']);
  await stop(0);
});

test('certificates that were replaced before the port is opened are used', async () => {
  const { listener, at } = create();
  const by = createTls();
  listener.renew(tlsOf(by));
  const { stop } = await listener.start(async () => true);
  expect((await send(at.port, notification(known, 3), { by })).statusCode).toBe(204);
  await stop(0);
});

test('a port that is taken is named with its setting', async () => {
  const { port, stop } = await listen(async () => true);
  await expect(create(port).listener.start(async () => true)).rejects.toThrow(
    `SIMPLANE_ES2_LISTEN_PORT: cannot listen on 127.0.0.1:${port}: EADDRINUSE`,
  );
  await stop(0);
});

test('once its connections are closed, nothing of the port keeps the process', async () => {
  const { stop } = await listen(async () => true);
  const [set, clear] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
  await stop(12_345);
  const bound = set.mock.calls.findIndex(([, ms]) => ms === 12_345);
  expect(clear).toHaveBeenCalledWith(set.mock.results[bound]?.value);
  vi.restoreAllMocks();
});

import type { Server } from 'node:https';
import { Server as TcpServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { createTls } from '../../../test/support/smdp-setup.ts';
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
  });
  const timeout = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'handshake-timeout',
  );
  expect(Reflect.get(server as Server, timeout as symbol)).toBe(10_000);
});

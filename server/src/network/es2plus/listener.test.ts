import type { Server } from 'node:https';
import { Server as TcpServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { createTls } from '../../../test/support/smdp-setup.ts';
import { createEs2Listener } from './listener.ts';

// Node closes what is above these limits. A test with so many connections would race with their handshakes' time limit.
test('the port for notifications takes a thousand connections at a time, from whomever, and a request for 15 s', async () => {
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
  expect([server?.maxConnections, server?.requestTimeout]).toEqual([1_000, 15_000]);
});

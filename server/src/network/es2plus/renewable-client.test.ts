import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startFakeSmdp } from '../../../test/support/fake-smdp.ts';
import { createTls } from '../../../test/support/smdp-setup.ts';
import { createRenewableClient } from './renewable-client.ts';

test('a client that is closed ends the calls in progress, also those with certificates that were replaced', async () => {
  const tls = createTls();
  const smdp = await startFakeSmdp({ tls: tls.server });
  const isAsked = new Promise<void>((resolve) => {
    smdp.onCall(() => {
      resolve();
      return 'hang';
    });
  });
  const options = { url: smdp.url, tls: tls.client, protocolVersion: '2.2.0', connectTimeoutMs: 5_000 };
  const client = createRenewableClient(options);
  const body = JSON.stringify({ header: { functionCallIdentifier: 'x' }, iccid: '8999909000000000009' });
  const inProgress = client.post('/gsma/rsp2/es2plus/releaseProfile', body, {
    signal: AbortSignal.timeout(30_000),
    isFresh: false,
  });
  await isAsked;
  client.renew(tls.client);
  await client.close();
  expect(await inProgress).toMatchObject({ kind: 'unanswered', why: 'connection' });
  await smdp.stop();
});

test('the idle connections of certificates that were replaced are closed', async () => {
  const tls = createTls();
  const server = createServer(tls.server, (_, response) => void response.end('{}'));
  server.keepAliveTimeout = 600_000; // neither side closes it by itself
  const closed = new Promise<void>((resolve) => {
    server.on('secureConnection', (socket: Socket) => void socket.once('close', resolve));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { url, tls: tls.client, protocolVersion: '2.2.0', connectTimeoutMs: 5_000 };
  const client = createRenewableClient(options);
  const signal = AbortSignal.timeout(30_000);
  expect(await client.post('/x', '{}', { signal, isFresh: false })).toMatchObject({ status: 200 });
  client.renew(tls.client);
  await closed;
  await client.close();
  server.close();
});

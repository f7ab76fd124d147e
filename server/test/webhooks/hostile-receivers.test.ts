import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { stopServer } from '../support/stop-server.ts';
import { until } from '../support/until.ts';

let service: TestService;
const cleanups: (() => unknown)[] = [];
beforeEach(async () => {
  service = await startService();
});
afterEach(async () => {
  await service.stop();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function createEndpoint(url: string): Promise<void> {
  const body = { url, enabled_event_types: ['*'] };
  expect((await call(service, 'POST', '/v1/webhook_endpoints', { body })).status).toBe(201);
}

async function publish(): Promise<string> {
  const body = { type: 'esim.provisioned', data: {} };
  return (await call(service, 'POST', '/v1/events/test', { body })).json.id;
}

async function settled(eventId: string) {
  const [delivery] = await until(
    async () => (await call(service, 'GET', `/v1/events/${eventId}/deliveries`)).json.data,
    ([row]) => row !== undefined && row.status !== 'pending',
  );
  return delivery;
}

/** Sends `first`, then repeats `more` until the client disconnects. */
async function startEndlessServer(first: string, more: string) {
  let bytes = 0;
  const sockets = new Set<Socket>();
  const chunk = Buffer.from(more.repeat(Math.ceil(16_384 / more.length)));
  const server = createServer((socket) => {
    sockets.add(socket);
    const sendMore = () => {
      while (!socket.destroyed) {
        bytes += chunk.length;
        if (!socket.write(chunk)) return void socket.once('drain', sendMore);
      }
    };
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.once('data', () => {
      socket.resume().write(first);
      sendMore();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    bytes: () => bytes,
    isOver: () => sockets.size === 0,
  };
}

describe('a receiver that never finishes its response', () => {
  const interim = 'too many interim responses (1xx)';
  const unexpected = 'unexpected interim response (100 or 101)';
  test.each([
    ['102s', '', 'HTTP/1.1 102 Processing\r\n\r\n', interim],
    ['103s', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n', interim],
    ['100s', '', 'HTTP/1.1 100 Continue\r\n\r\n', unexpected],
    ['101s', '', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: a\r\n\r\n', unexpected],
    ['headers', 'HTTP/1.1 200 OK\r\n', 'a: b\r\n', 'headers too long'],
    ['a reason phrase', 'HTTP/1.1 200 ', 'OK', 'response too long'],
    ['blank lines', '', '\r\n', 'response too long'],
    ['something else', '', 'SSH-2.0-OpenSSH_9.6\r\n', 'response is not valid HTTP'],
  ])('but sends endless %s is cut off long before the timeout', async (_, first, more, error) => {
    const server = await startEndlessServer(first, more);
    // Without a limit it would send gigabytes within the minute.
    service.startSender({ timeoutMs: 60_000, retryScheduleMs: [] });
    await createEndpoint(server.url);
    const delivery = await settled(await publish());
    expect(delivery).toMatchObject({ status: 'failed', attempts: [{ status_code: null, error }] });
    await until(async () => server.isOver(), Boolean);
    // Covers both sockets' buffers and the bytes read between two checks.
    expect(server.bytes()).toBeLessThan(1_000_000_000);
    if (error === interim) expect(server.bytes()).toBeLessThan(32_000_000);
  });

  test('but sends endless chunk extensions is cut off, and its status counts', async () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;';
    const server = await startEndlessServer(head, 'a=b;');
    service.startSender({ timeoutMs: 60_000 });
    await createEndpoint(server.url);
    expect(await settled(await publish())).toMatchObject({ status: 'succeeded' });
    await until(async () => server.isOver(), Boolean);
  });
});

test('a few interim responses before the final one are accepted', async () => {
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.end(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2)}HTTP/1.1 204 No Content\r\n\r\n`);
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanups.push(() => server.close());
  service.startSender();
  await createEndpoint(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(await settled(await publish())).toMatchObject({
    status: 'succeeded',
    attempts: [{ status_code: 204 }],
  });
});

test('a name alternating between internal and public addresses shows only the public one’s responses', async () => {
  const [internal, shown] = ['127.0.0.1', '127.0.0.2'];
  const held: (() => void)[] = [];
  const server = createHttpServer((request, response) => {
    held.push(() => response.end(`from ${request.socket.localAddress}`));
    request.resume();
  });
  await once(server.listen(0, '0.0.0.0'), 'listening');
  cleanups.push(() => stopServer(server));
  let lookups = 0;
  service.startSender({
    names: { resolve: () => ({ kind: 'found', addresses: [[internal, shown][lookups++ % 2] as string] }) },
    mayShowResponse: (address) => address === shown,
  });
  await createEndpoint(`http://alternating.example:${(server.address() as AddressInfo).port}/`);
  // Holding several requests open keeps connections to both addresses, which are then reused in any order.
  const events: string[] = [];
  for (const count of [1, 2, 4, 4, 4]) {
    for (let i = 0; i < count; i++) events.push(await publish());
    await until(
      async () => held.length,
      (open) => open === count,
    );
    for (const respond of held.splice(0)) respond();
    await Promise.all(events.slice(-count).map(settled));
  }
  const responses = (await Promise.all(events.map(settled))).map(({ attempts }) => attempts[0].response);
  expect(new Set(responses)).toEqual(new Set([null, `from ${shown}`]));
});

test('attempts at internal addresses all look the same', async () => {
  service.service.addressPolicy = { allowsHttp: true, allowsPrivate: false, allowedCidrs: [] };
  const addresses: Record<string, string> = {
    'a.example': '127.0.0.1',
    'b.example': '10.0.0.1',
    'c.example': '169.254.169.254',
    'd.example': '::1',
    'e.example': 'fd00::1',
    'f.example': '0.0.0.0',
  };
  const resolve = (_: string, name: string) => ({
    kind: 'found' as const,
    addresses: [addresses[name] as string],
  });
  service.startSender({ names: { resolve }, retryScheduleMs: [] });
  for (const name of Object.keys(addresses)) await createEndpoint(`http://${name}/`);
  const eventId = await publish();
  const deliveries = await until(
    async () => (await call(service, 'GET', `/v1/events/${eventId}/deliveries`)).json.data,
    (rows) => rows.length === 6 && rows.every(({ status }: { status: string }) => status === 'failed'),
  );
  for (const { attempts } of deliveries) {
    expect(attempts).toMatchObject([{ status_code: null, error: 'address not allowed', response: null }]);
  }
});

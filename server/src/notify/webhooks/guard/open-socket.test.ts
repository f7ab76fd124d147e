import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AddressPolicy } from '../../../platform/addresses/address-policy.ts';
import { openSocket } from './open-socket.ts';

const publicOnly: AddressPolicy = { allowsHttp: true, allowsPrivate: false, allowedCidrs: [] };
const sandbox: AddressPolicy = { ...publicOnly, allowsPrivate: true };

const received: { bytes: number; closed: Promise<unknown> }[] = [];
const server = createServer((socket) => {
  const connection = { bytes: 0, closed: once(socket, 'close') };
  received.push(connection);
  socket.on('data', (chunk) => {
    connection.bytes += chunk.length;
  });
});
let port: number;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.close();
});

const never = new AbortController().signal;

test('a socket connected to a forbidden address is closed before any byte is written', async () => {
  // Simulates checked addresses with the network leading elsewhere.
  for (const hostname of ['127.0.0.1', 'checked.example']) {
    const opening = openSocket({ hostname, addresses: ['127.0.0.1'], port }, publicOnly, never);
    await expect(opening).rejects.toMatchObject({
      name: 'AddressRefused',
      code: 'ERR_ADDRESS_REFUSED',
      address: '127.0.0.1',
    });
    await expect.poll(() => received.length).toBe(1);
    const [connection] = received.splice(0);
    await connection?.closed;
    expect(connection?.bytes).toBe(0);
  }
});

test('the next address is tried if one does not answer', async () => {
  const addresses = ['127.0.0.2', '::1', '127.0.0.1'];
  const socket = await openSocket({ hostname: 'several.example', addresses, port }, sandbox, never);
  expect(socket.remoteAddress).toBe('127.0.0.1');
  socket.destroy();
});

test('a signal that has already fired aborts the connection', async () => {
  const signal = AbortSignal.abort(new Error('too late'));
  const opening = openSocket({ hostname: 'a.example', addresses: ['127.0.0.1'], port }, sandbox, signal);
  await expect(opening).rejects.toThrow('too late');
});

test('a signal that fires before the address answers aborts the connection', async () => {
  const deadline = new AbortController();
  const target = { hostname: 'a.example', addresses: ['127.0.0.1'], port };
  const opening = openSocket(target, sandbox, deadline.signal);
  deadline.abort(new Error('too late'));
  await expect(opening).rejects.toThrow('too late');
});

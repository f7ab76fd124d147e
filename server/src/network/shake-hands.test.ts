import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import nodeTls, { createServer as createTlsServer } from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { createTls } from '../../test/support/smdp-setup.ts';
import { shakeHands } from './shake-hands.ts';

const { DEFAULT_MIN_VERSION } = nodeTls;
const sockets: Socket[] = [];
let server: Server;
afterEach(() => {
  Object.assign(nodeTls, { DEFAULT_MIN_VERSION });
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

async function listen(): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Where connections are accepted and nothing is ever said. */
async function startSilent(): Promise<string> {
  server = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  return `127.0.0.1:${await listen()}`;
}

test('a peer that accepts the connection and does not shake hands is given up', async () => {
  const host = await startSilent();
  const shaken = await shakeHands({ url: `https://${host}`, timeoutMs: 50 });
  expect(shaken).toEqual({ kind: 'failed', peer: null, cause: 'ETIMEDOUT' });
});

test('where there is no TLS, a connection is enough, and it is closed', async () => {
  const host = await startSilent();
  const [set, clear] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
  expect(await shakeHands({ url: `http://${host}`, timeoutMs: 10_000 })).toEqual({ kind: 'ok', peer: null });
  // Else the process would stay until then.
  const bound = set.mock.calls.findIndex(([, ms]) => ms === 10_000);
  expect(clear).toHaveBeenCalledWith(set.mock.results[bound]?.value);
  vi.restoreAllMocks();
  await expect.poll(() => sockets.map(({ readyState }) => readyState)).not.toEqual(['open']);
});

test('a host is named in the handshake, so that a shared gateway shows its certificate, and an address is not', async () => {
  const named: string[] = [];
  const SNICallback = (name: string, done: (error: null) => void) => {
    named.push(name);
    done(null);
  };
  server = createTlsServer({ ...createTls().server, SNICallback });
  const port = await listen();
  for (const host of ['localhost', '127.0.0.1']) {
    const shaken = await shakeHands({ url: `https://${host}:${port}`, timeoutMs: 10_000 });
    expect(shaken.peer?.subject.CN).toBe('smdp');
  }
  expect(named).toEqual(['localhost']);
});

test('the brackets of an IPv6 address are no part of it', async () => {
  server = createServer();
  const shaken = await shakeHands({ url: 'https://[::1]:1', timeoutMs: 10_000 });
  // ECONNREFUSED, or what says that there is no IPv6; but not that the name is unknown.
  expect(shaken).toMatchObject({ kind: 'failed', cause: expect.stringMatching(/^E(?!NOTFOUND|AI_)/) });
});

test('a handshake shows our certificate, and whether the peer’s is one that we trust', async () => {
  const { server: own, client } = createTls();
  const { cert, key, clientCa: ca } = own;
  // The versions are ours, whatever the process’s default is.
  Object.assign(nodeTls, { DEFAULT_MIN_VERSION: 'TLSv1.3' });
  // With TLS 1.3 the refusal would come after the handshake.
  server = createTlsServer({
    cert,
    key,
    ca,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
  });
  const target = { url: `https://127.0.0.1:${await listen()}`, timeoutMs: 10_000 };
  expect(await shakeHands({ ...target, tls: client })).toMatchObject({
    ...{ kind: 'ok', peer: { subject: { CN: 'smdp' } } },
  });
  expect(await shakeHands({ ...target, tls: { ...client, ca: null } })).toMatchObject({
    ...{ kind: 'failed', peer: { subject: { CN: 'smdp' } }, cause: expect.stringMatching(/^[A-Z_]+$/) },
  });
  expect(await shakeHands(target)).toMatchObject({ kind: 'failed', peer: null });
});

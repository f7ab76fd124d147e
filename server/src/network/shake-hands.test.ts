import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { shakeHands } from './shake-hands.ts';

const sockets: Socket[] = [];
let server: Server;
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

/** Where connections are accepted and nothing is ever said. */
async function startSilent(): Promise<string> {
  server = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

test('a peer that accepts the connection and does not shake hands is given up', async () => {
  const host = await startSilent();
  const shaken = await shakeHands({ url: `https://${host}`, timeoutMs: 50 });
  expect(shaken).toEqual({ kind: 'failed', peer: null, cause: 'ETIMEDOUT' });
});

test('where there is no TLS, a connection is enough, and it is closed', async () => {
  const host = await startSilent();
  expect(await shakeHands({ url: `http://${host}`, timeoutMs: 10_000 })).toEqual({ kind: 'ok', peer: null });
  await expect.poll(() => sockets.map(({ readyState }) => readyState)).not.toEqual(['open']);
});

import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Agent } from 'undici';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AddressPolicy } from '../../../platform/addresses/address-policy.ts';
import { createGuardedAgent, type GuardedRequest, type Peer } from './connector.ts';

const publicOnly: AddressPolicy = { allowsHttp: true, allowsPrivate: false, allowedCidrs: [] };
const sandbox: AddressPolicy = { ...publicOnly, allowsPrivate: true };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

function agentFor(...args: Parameters<typeof createGuardedAgent>): Agent {
  const agent = createGuardedAgent(...args);
  cleanups.push(() => agent.destroy());
  return agent;
}

async function get(agent: Agent, origin: string, more: Partial<GuardedRequest> = {}) {
  const request: GuardedRequest = { origin, path: '/', method: 'GET', ...more };
  const response = await agent.request(request);
  return { status: response.statusCode, body: await response.body.text() };
}

describe('plain connections', () => {
  test('are reused even if the name’s addresses change', async () => {
    let connections = 0;
    const server = createHttpServer((_request, response) => response.end('here'));
    server.on('connection', () => connections++);
    const port = await listening(server);
    const agent = agentFor(sandbox, { connections: 1 });
    for (const addresses of [['127.0.0.1'], ['127.0.0.9'], []]) {
      const answer = await get(agent, `http://receiver.example:${port}`, { addresses });
      expect(answer).toEqual({ status: 200, body: 'here' });
    }
    expect(connections).toBe(1);
  });

  test('report the address of each request’s own connection', async () => {
    const arrived: (() => void)[] = [];
    const server = createHttpServer((request, response) => {
      arrived.push(() => response.end(request.socket.localAddress));
    });
    await once(server.listen(0, '0.0.0.0'), 'listening');
    cleanups.push(() => server.close());
    const origin = `http://receiver.example:${(server.address() as AddressInfo).port}`;
    const agent = agentFor(sandbox, { connections: 4 });
    for (let round = 0; round < 3; round++) {
      const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.1', '127.0.0.2'].map(async (address) => {
        let peer: Peer | undefined;
        const onPeer = (connected: Peer) => {
          peer = connected;
        };
        const { body } = await get(agent, origin, { addresses: [address], onPeer });
        return [body, peer?.address()];
      });
      await expect.poll(() => arrived.length).toBe(4);
      for (const answer of arrived.splice(0)) answer();
      const seen = await Promise.all(answers);
      for (const [servedBy, reported] of seen) expect(reported).toBe(servedBy);
      expect(new Set(seen.map(([servedBy]) => servedBy)).size).toBe(2);
    }
  });

  test('are limited per origin', async () => {
    let open = 0;
    let maxOpen = 0;
    const server = createHttpServer((_request, response) => setTimeout(() => response.end(), 20));
    server.on('connection', (socket) => {
      maxOpen = Math.max(maxOpen, ++open);
      socket.on('close', () => open--);
    });
    const port = await listening(server);
    const agent = agentFor(sandbox, { connections: 2 });
    await Promise.all(Array.from({ length: 8 }, () => get(agent, `http://127.0.0.1:${port}`)));
    expect(maxOpen).toBe(2);
  });

  test('do not follow a redirect', async () => {
    const server = createHttpServer((_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    });
    const port = await listening(server);
    expect(await get(agentFor(sandbox), `http://127.0.0.1:${port}`)).toMatchObject({ status: 302 });
  });

  test('fail if the response has more than 16 kB of headers', async () => {
    let length = 15_000;
    const server = createHttpServer((_request, response) => {
      response.writeHead(200, { 'x-long': 'a'.repeat(length) }).end();
    });
    const origin = `http://127.0.0.1:${await listening(server)}`;
    expect(await get(agentFor(sandbox), origin)).toMatchObject({ status: 200 });
    length = 20_000;
    await expect(get(agentFor(sandbox), origin)).rejects.toMatchObject({
      code: 'UND_ERR_HEADERS_OVERFLOW',
    });
  });

  test('are refused if only https is allowed', async () => {
    const agent = agentFor({ ...sandbox, allowsHttp: false });
    await expect(get(agent, 'http://127.0.0.1:9')).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
  });
});

describe('names', () => {
  test('with one forbidden address among allowed ones are refused, and the message omits it', async () => {
    const policy = { ...publicOnly, allowedCidrs: ['127.0.0.2/32'] };
    for (const addresses of [
      ['127.0.0.2', '10.0.0.7'],
      ['10.0.0.7', '127.0.0.2'],
    ]) {
      const error = await get(agentFor(policy), 'http://mixed.example', { addresses }).catch(
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({ code: 'ERR_ADDRESS_REFUSED', address: '10.0.0.7' });
      expect((error as Error).message).toContain('mixed.example');
      expect((error as Error).message).not.toContain('10.0.0.7');
    }
  });

  test('without an address fail with ENOTFOUND', async () => {
    for (const more of [{}, { addresses: [] }]) {
      await expect(get(agentFor(sandbox), 'http://localhost', more)).rejects.toMatchObject({
        code: 'ENOTFOUND',
      });
    }
  });
});

describe('TLS', () => {
  const { key, certificate } = selfSigned('receiver.example');

  async function secureServer() {
    const names: unknown[] = [];
    const server = createHttpsServer({ key, cert: certificate }, (_request, response) =>
      response.end('safe'),
    );
    server.on('secureConnection', (socket: TLSSocket) =>
      names.push((socket as { servername?: unknown }).servername),
    );
    return { port: await listening(server), names };
  }

  test('sends the host name without a trailing dot and verifies the certificate against it', async () => {
    const { port, names } = await secureServer();
    const agent = agentFor({ ...sandbox, allowsHttp: false }, { ca: certificate });
    for (const host of ['receiver.example', 'receiver.example.']) {
      const answer = await get(agent, `https://${host}:${port}`, { addresses: ['127.0.0.1'] });
      expect(answer).toEqual({ status: 200, body: 'safe' });
    }
    expect(names).toEqual(['receiver.example', 'receiver.example']);
  });

  test('keeps a connection for longer than it may take to make one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { port, names } = await secureServer();
    const agent = agentFor(sandbox, { ca: certificate, connectTimeoutMs: 100, connections: 1 });
    for (let request = 0; request < 2; request++) {
      expect(await get(agent, `https://127.0.0.1:${port}`)).toMatchObject({ status: 200 });
      await vi.advanceTimersByTimeAsync(200);
    }
    expect(names).toHaveLength(1);
  });

  test('verifies a literal’s certificate against the address', async () => {
    const { port } = await secureServer();
    const agent = agentFor(sandbox, { ca: certificate });
    expect(await get(agent, `https://127.0.0.1:${port}`)).toMatchObject({ status: 200 });
  });

  test('refuses a self-signed certificate or one for another name, whatever the environment says', async () => {
    const { port } = await secureServer();
    const addresses = ['127.0.0.1'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await expect(
        get(agentFor(sandbox, { ca: certificate }), `https://other.example:${port}`, { addresses }),
      ).rejects.toMatchObject({
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      });
      await expect(
        get(agentFor(sandbox), `https://receiver.example:${port}`, { addresses }),
      ).rejects.toMatchObject({
        code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      });
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  test('counts towards the connect timeout, after which the connection is closed', async () => {
    const sockets: Socket[] = [];
    const port = await listening(
      createTcpServer((socket) => sockets.push(socket.resume().on('error', () => {}))),
    );
    const agent = agentFor(sandbox, { connectTimeoutMs: 100 });
    await expect(get(agent, `https://127.0.0.1:${port}`)).rejects.toMatchObject({
      code: 'UND_ERR_CONNECT_TIMEOUT',
    });
    await expect.poll(() => sockets.map(({ closed }) => closed)).toEqual([true]);
  });
});

/** An X.509 certificate for the name and for 127.0.0.1, with only the fields RFC 5280 requires. */
function selfSigned(name: string): { key: string; certificate: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
    const content = Buffer.concat(parts);
    const length =
      content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 255];
    return Buffer.concat([Buffer.from([tag, ...length]), content]);
  };
  const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
  const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const subject = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
  const validity = sequence(
    ...['20200101000000Z', '20991231235959Z'].map((time) => der(0x18, Buffer.from(time))),
  );
  const alternatives = sequence(der(0x82, Buffer.from(name)), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = der(0xa3, sequence(sequence(oid('551d11'), der(0x04, alternatives))));
  const unsigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    subject,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', unsigned, privateKey));
  // Signatures differ in length, so the last line may be full; an empty one after it would end the certificate.
  const lines = sequence(unsigned, ecdsaWithSha256, signature)
    .toString('base64')
    .match(/.{1,64}/g);
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines?.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

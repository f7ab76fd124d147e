import type { Operation } from '@simplane/contract';
import { Type } from 'typebox';
import { afterEach, describe, expect, test } from 'vitest';
import { type Connection, exchange, head, openConnection } from '../support/raw-http.ts';
import { apiWith, startService, type TestService } from '../support/service.ts';

const limits = { maxConnections: 80, maxConnectionsPerAddress: 20, headersTimeoutMs: 60_000 };
const honestAddress = '127.0.0.2';

let service: TestService;
let attackers: { stop(): void }[] = [];
afterEach(async () => {
  for (const attacker of attackers) attacker.stop();
  attackers = [];
  await service.stop();
});

const unfinishedBody = (headers: Record<string, string> = {}) =>
  `${head('POST', '/v1/esims', { 'Content-Type': 'application/json', 'Content-Length': 1_000, ...headers })}{`;

/** Keeps this many connections that send these bytes; each that is closed is opened again at once. */
function attack(count: number, bytes: string, from?: string) {
  const open = new Set<Connection>();
  let [openedCount, isOn] = [0, true];
  const keepOne = async () => {
    while (isOn) {
      const connection = await openConnection(service.url, from).catch(() => null);
      if (!connection) continue;
      openedCount += 1;
      open.add(connection);
      connection.socket.write(bytes);
      await connection.closed;
      open.delete(connection);
    }
  };
  for (let i = 0; i < count; i++) keepOne().catch(() => {});
  const attacker = {
    openedCount: () => openedCount,
    stop() {
      isOn = false;
      for (const { socket } of open) socket.destroy();
    },
  };
  attackers.push(attacker);
  return attacker;
}

const authorization = () => ({ Authorization: `Bearer ${service.key}` });

/** Each request on a connection of its own, as the worst case. */
async function expectServed(headers: Record<string, string> = {}, from = honestAddress): Promise<void> {
  for (let i = 0; i < 25; i++) {
    const ask = head('GET', '/v1/me', { ...authorization(), ...headers });
    expect((await exchange(service.url, ask, from)).status).toBe(200);
  }
}

/** How many connections were closed, by reason. */
const cuts = async () => {
  const { values } = await service.service.metrics.connectionsCut.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels['reason'], value]));
};

const hold = { begun: 0, release: [] as (() => void)[] };
const api = apiWith({
  operations: {
    hold: {
      method: 'POST',
      audit: { action: 'esim.updated', target: 'esim' },
      path: '/v1/probe/hold',
      tag: 'Probes',
      summary: 'A probe',
      description: 'Only in this test.',
      scope: 'read',
      status: 200,
      body: Type.Object({}),
      response: Type.Object({ ok: Type.Boolean() }),
      refusals: [],
    } satisfies Operation,
  },
  handlers: {
    hold: {
      writeGrouped: async () => {
        hold.begun += 1;
        await new Promise<void>((resolve) => hold.release.push(resolve));
        return {
          kind: 'answered',
          replayed: false,
          answer: { status: 200, location: null, body: '{"ok":true}' },
        };
      },
    },
  },
});

/** Opens connections with a complete request each, whose work goes on until the test ends it. */
async function holdRequests(count: number, from: string, headers: Record<string, string> = {}) {
  hold.begun = 0;
  const releases: (() => void)[] = [];
  hold.release = releases;
  const connections: Connection[] = [];
  const more = { 'Content-Type': 'application/json', 'Content-Length': 2, ...authorization(), ...headers };
  for (let i = 0; i < count; i++) {
    const connection = await openConnection(service.url, from);
    connection.socket.write(`${head('POST', '/v1/probe/hold', more)}{}`);
    connections.push(connection);
  }
  attackers.push({
    stop() {
      for (const release of releases) release(); // a stop waits for what is in work
    },
  });
  await expect.poll(() => hold.begun).toBe(count);
  return {
    async expectAnswered() {
      for (const release of releases) release();
      const replies = await Promise.all(connections.map((connection) => connection.reply()));
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      for (const { socket } of connections) socket.destroy();
    },
    /** Loses the connections while their requests are in work, and ends these afterwards. */
    async lose() {
      const lost = () => service.logLines.filter((line) => line.includes('/v1/probe/hold')).length;
      const before = lost();
      for (const { socket } of connections) socket.destroy();
      await expect.poll(lost, { timeout: 60_000 }).toBe(before + count);
      for (const release of releases) release();
    },
  };
}

describe('connections of a process', () => {
  test.each([
    ['one byte of a body each', () => unfinishedBody(authorization())],
    ['one byte of a body each and no key', () => unfinishedBody()],
    ['one byte each', () => 'G'],
    ['no byte', () => ''],
    ['a request and one byte of the next', () => `${head('GET', '/livez')}G`],
  ])('of one address with %s, opened again when closed, keep no other address out', async (_, bytes) => {
    service = await startService(limits);
    const attacker = attack(60, bytes(), '127.0.0.3');
    await expect.poll(() => attacker.openedCount()).toBeGreaterThan(200);
    await expectServed();
    expect(await cuts()).not.toHaveProperty('too_many');
  });

  test('of as many addresses as fill it keep no other address out', async () => {
    service = await startService(limits);
    const addresses = ['127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6'];
    const all = addresses.map((address) => attack(20, unfinishedBody(authorization()), address));
    await expect.poll(() => all.reduce((sum, one) => sum + one.openedCount(), 0)).toBeGreaterThan(79);
    await expectServed();
    expect((await cuts())['too_many']).toBeGreaterThan(0);
  });

  test('are never closed while a complete request is in work, however many connect', async () => {
    service = await startService({ ...limits, api });
    const held = await holdRequests(15, '127.0.0.3');
    const attacker = attack(40, unfinishedBody(authorization()), '127.0.0.3');
    await expect.poll(() => attacker.openedCount()).toBeGreaterThan(200);
    await expectServed();
    await held.expectAnswered();
  });

  test('are refused to an address only when requests of it are in work on all of its share', async () => {
    service = await startService({ ...limits, api });
    const held = await holdRequests(20, '127.0.0.3');
    await expect(exchange(service.url, head('GET', '/livez'), '127.0.0.3')).rejects.toThrow();
    await expectServed();
    await held.expectAnswered();
    expect((await exchange(service.url, head('GET', '/livez'), '127.0.0.3')).status).toBe(200);
  });

  test('are refused to everyone only when requests are in work on all', async () => {
    service = await startService({ ...limits, api });
    const held = [];
    for (const address of ['127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6']) {
      held.push(await holdRequests(20, address));
    }
    await expect(exchange(service.url, head('GET', '/livez'), honestAddress)).rejects.toThrow();
    expect(await cuts()).toEqual({ too_many: 1 });
    for (const one of held) await one.expectAnswered();
    await expectServed();
  });

  test('replace the oldest unfinished or idle one of their own address', async () => {
    service = await startService(limits);
    const idle = await openConnection(service.url, '127.0.0.3');
    idle.socket.write(head('GET', '/livez'));
    await idle.reply();
    const silent: Connection[] = [];
    while (silent.length < 19) silent.push(await openConnection(service.url, '127.0.0.3'));
    for (const connection of silent) {
      expect((await exchange(service.url, head('GET', '/livez'), '127.0.0.3')).status).toBe(200);
      await connection.closed;
      expect(idle.socket.destroyed).toBe(false);
      silent[silent.indexOf(connection)] = await openConnection(service.url, '127.0.0.3');
    }
    for (const { socket } of [idle, ...silent]) socket.destroy();
  });
});

describe('through a trusted proxy', () => {
  const proxy = '127.0.0.3';
  const start = () => startService({ ...limits, api, trustedProxies: [`${proxy}/32`] });
  const through = (client: string) => ({ 'X-Forwarded-For': client });

  test('requests with unfinished bodies are bounded per client, and other clients are served', async () => {
    service = await start();
    const held = await holdRequests(5, proxy, through('2001:db8:0:1::1'));
    const bytes = unfinishedBody({ ...authorization(), ...through('2001:db8:0:1::2') });
    const attacker = attack(60, bytes, proxy);
    await expect.poll(() => attacker.openedCount()).toBeGreaterThan(200);
    await expectServed(through('2001:db8:0:2::1'), proxy);
    expect(await cuts()).not.toHaveProperty('too_many');
    await held.expectAnswered();
  });

  test('unfinished bodies of requests that were already refused count too', async () => {
    service = await start();
    const attacker = attack(60, unfinishedBody(through('192.0.2.1')), proxy);
    await expect.poll(() => attacker.openedCount()).toBeGreaterThan(200);
    await expectServed(through('192.0.2.2'), proxy);
  });

  test('connections that were lost with a request in work leave their room', async () => {
    service = await start();
    for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
      const held = await holdRequests(40, proxy, through(client));
      await held.lose();
    }
    expect(await cuts()).toEqual({});
  });

  test('the proxy itself may have all connections, and a client more requests in work than its share', async () => {
    service = await start();
    const idle: Connection[] = [];
    while (idle.length < 40) idle.push(await openConnection(service.url, proxy));
    const held = await holdRequests(30, proxy, through('192.0.2.1'));
    await expectServed(through('192.0.2.1'), proxy);
    expect(idle.filter(({ socket }) => socket.destroyed)).toEqual([]);
    expect(await cuts()).toEqual({});
    await held.expectAnswered();
    for (const { socket } of idle) socket.destroy();
  });
});

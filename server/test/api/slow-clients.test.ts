import type { Operation } from '@simplane/contract';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { call, type Reply } from '../support/client.ts';
import { type Connection, exchange, head, openConnection, parseReply } from '../support/raw-http.ts';
import { apiWith, startService, type TestService } from '../support/service.ts';

const product = JSON.stringify({ product_id: 'prod_europe_5gb_30d' });

function jsonHead(service: TestService, length: Record<string, string | number>): string {
  const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json', ...length };
  return head('POST', '/v1/esims', headers);
}

function expectError(reply: Reply | null, status: number, code: string): void {
  expect(reply?.json, reply?.text).toMatchObject({
    error: { code, message: expect.any(String), request_id: reply?.headers.get('request-id') },
  });
  expect(reply?.status).toBe(status);
  expect(reply?.headers.get('request-id')).toMatch(/^req_/);
  expect(reply?.headers.get('service-version')).toBe('2026-11-01');
  expect(reply?.headers.get('content-type')).toMatch(/^application\/json/);
}

/** Sends a byte every 100 ms until the connection is closed. */
function drip(connection: Connection, bytes: string): Promise<void> {
  let at = 0;
  const timer = setInterval(() => connection.socket.write(bytes[at++ % bytes.length] ?? ''), 100);
  return connection.closed.finally(() => clearInterval(timer));
}

function open(service: TestService, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => openConnection(service.url)));
}

async function expectServed(service: Pick<TestService, 'url' | 'key'>, count: number): Promise<void> {
  for (let done = 0; done < count; done += 20) {
    const replies = await Promise.all(Array.from({ length: 20 }, () => call(service, 'GET', '/v1/products')));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  }
}

const serverErrorLines = (service: TestService) =>
  service.logLines.filter((line) => JSON.parse(line).status >= 500);

describe('a client that sends slowly', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ headersTimeoutMs: 3_000, requestTimeoutMs: 4_000 });
  });
  afterAll(() => service.stop());

  test('in its headers gets 408 or is closed, and others are served meanwhile', async () => {
    const slow = await open(service, 40);
    const ends = slow.map((connection) =>
      drip(connection, 'GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Slow: aaaaaa'),
    );
    await expectServed(service, 60);
    await Promise.all(ends);
    for (const { received } of slow) {
      if (received().length > 0) expectError(parseReply(received()), 408, 'request_timeout');
    }
    await expectServed(service, 20);
  });

  test('in its body gets 408 or is closed, and others are served meanwhile', async () => {
    const slow = await open(service, 40);
    for (const { socket } of slow) socket.write(jsonHead(service, { 'Content-Length': 100_000 }));
    const ends = slow.map((connection) => drip(connection, ' '));
    await expectServed(service, 60);
    await Promise.all(ends);
    for (const { received } of slow) {
      if (received().length > 0) expectError(parseReply(received()), 408, 'request_timeout');
    }
    await expectServed(service, 20);
  });

  test('and stops in its headers gets 408 in our error format', async () => {
    expectError(await exchange(service.url, 'GET /v1/me HTTP/1.1\r\nHost: x\r\nX-'), 408, 'request_timeout');
  });

  test('and stops in a body of known or unknown length gets 408 in our error format', async () => {
    const known = await exchange(service.url, `${jsonHead(service, { 'Content-Length': 100 })}{`);
    expectError(known, 408, 'request_timeout');
    const chunked = await exchange(
      service.url,
      `${jsonHead(service, { 'Transfer-Encoding': 'chunked' })}1\r\n{\r\n`,
    );
    expectError(chunked, 408, 'request_timeout');
  });

  test('gets only one answer when it is refused before its body arrives', async () => {
    const connection = await openConnection(service.url);
    connection.socket.write(`${head('POST', '/v1/esims', { 'Content-Length': 100 })}{`);
    await connection.closed;
    const statuses = connection
      .received()
      .toString()
      .match(/HTTP\/1\.1 \d{3}/g);
    expect(statuses).toEqual(['HTTP/1.1 401']);
  });

  test('is never logged as a server error', async () => {
    await expect
      .poll(() => service.logLines.filter((line) => line.includes('request_timeout')).length)
      .toBeGreaterThan(0);
    expect(serverErrorLines(service)).toEqual([]);
  });
});

describe('a client that goes away', () => {
  const gate = { entered: () => {}, opened: Promise.resolve() };
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ api: apiWith(probes) });
  });
  afterAll(() => service.stop());

  const probes = {
    operations: {
      wait: {
        method: 'POST',
        path: '/v1/probe/wait',
        tag: 'Probes',
        summary: 'A probe',
        description: 'Only in this test.',
        scope: 'read',
        audit: { action: 'esim.updated', target: 'esim' },
        status: 200,
        response: Type.Object({ ok: Type.Boolean() }),
        refusals: [],
      } satisfies Operation,
    },
    handlers: {
      wait: {
        writeGrouped: async () => {
          gate.entered();
          await gate.opened;
          const answer = { status: 200, location: null, body: '{"ok":true}' };
          return { kind: 'answered', replayed: false, answer };
        },
      },
    },
  };

  test('in the middle of its body is not logged as a server error', async () => {
    const gone = await open(service, 20);
    for (const { socket } of gone) socket.write(`${jsonHead(service, { 'Content-Length': 100 })}{`);
    await expectServed(service, 20);
    for (const { socket } of gone) socket.resetAndDestroy();
    await Promise.all(gone.map(({ closed }) => closed));
    await expectServed(service, 20);
    expect(serverErrorLines(service)).toEqual([]);
  });

  test('while its request runs still leaves one log line, since the work was done', async () => {
    let release = () => {};
    const entered = new Promise<void>((resolve) => {
      gate.entered = resolve;
    });
    gate.opened = new Promise<void>((resolve) => {
      release = resolve;
    });
    const connection = await openConnection(service.url);
    connection.socket.write(head('POST', '/v1/probe/wait', { Authorization: `Bearer ${service.key}` }));
    await entered;
    connection.socket.resetAndDestroy();
    await connection.closed;
    await expectServed(service, 20);
    release();
    await expect
      .poll(() => service.logLines.filter((line) => line.includes('/v1/probe/wait')).length)
      .toBe(1);
    expect(serverErrorLines(service)).toEqual([]);
  });
});

describe('a client that stays connected', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({
      headersTimeoutMs: 60_000,
      requestTimeoutMs: 120_000,
      maxConnectionsPerAddress: 4_000, // all clients of this test have one address
    });
  });
  afterAll(() => service.stop());

  test('with a thousand idle connections does not block others', async () => {
    const idle: Connection[] = [];
    try {
      while (idle.length < 1_000) idle.push(...(await open(service, 50)));
      // Half have sent a request and are kept alive; half never sent a byte.
      const used = idle.filter((_, index) => index % 2 === 0);
      for (const { socket } of used) socket.write(head('GET', '/livez'));
      const answers = await Promise.all(used.map((connection) => connection.reply()));
      expect(answers.every(({ status }) => status === 200)).toBe(true);

      const fresh = head('GET', '/v1/me', { Authorization: `Bearer ${service.key}` });
      for (let i = 0; i < 10; i++) expect((await exchange(service.url, fresh)).status).toBe(200);
      await expectServed(service, 40);
      expect(idle.filter(({ socket }) => socket.destroyed)).toEqual([]);
    } finally {
      for (const { socket } of idle) socket.destroy();
      await Promise.all(idle.map(({ closed }) => closed));
    }
    await expectServed(service, 20);
  });

  test('and never reads its responses does not block others', async () => {
    const stalled = await open(service, 10);
    try {
      for (const { socket } of stalled) {
        socket.pause();
        socket.write(head('GET', '/openapi.json').repeat(30));
      }
      await expectServed(service, 60);
      expect(stalled.filter(({ socket }) => socket.destroyed)).toEqual([]);
    } finally {
      for (const { socket } of stalled) socket.destroy();
      await Promise.all(stalled.map(({ closed }) => closed));
    }
    await expectServed(service, 20);
  });

  test.each([
    ['with a good key', (own: TestService) => own.key],
    ['with unknown keys', (_: TestService, index: number) => `sp_test_${index}`],
  ])('and pipelines thousands of requests %s does not block others', async (_, keyOf) => {
    const own = await startService();
    const stalled = await open(own, 4);
    try {
      for (const [position, { socket }] of stalled.entries()) {
        const requests = Array.from({ length: 5_000 }, (_, index) =>
          head('GET', '/v1/products?limit=100', {
            Authorization: `Bearer ${keyOf(own, position * 5_000 + index)}`,
          }),
        );
        socket.pause();
        socket.write(requests.join(''));
      }
      await expectServed(own, 60);
    } finally {
      for (const { socket } of stalled) socket.destroy();
      await Promise.all(stalled.map(({ closed }) => closed));
      await own.stop();
    }
  });
});

const cuts = async (service: TestService, reason: string) => {
  const { values } = await service.service.metrics.connectionsCut.get();
  return values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
};

describe('a client that pipelines', () => {
  const gate = { entered: 0, release: [] as (() => void)[] };
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ api: apiWith(probes) });
  });
  afterAll(() => service.stop());

  const probes = {
    operations: { hold: probe('hold', Type.Object({ ok: Type.Boolean() })) },
    handlers: {
      hold: async () => {
        gate.entered += 1;
        await new Promise<void>((resolve) => gate.release.push(resolve));
        return { ok: true };
      },
    },
  };

  test('has one request processed at a time, so at most one answer is held for it', async () => {
    const { socket, received } = await openConnection(service.url);
    socket.write(head('GET', '/v1/probe/hold', { Authorization: `Bearer ${service.key}` }).repeat(3));
    for (const count of [1, 2, 3]) {
      await expect.poll(() => gate.entered).toBe(count);
      await expectServed(service, 20);
      expect(gate.entered).toBe(count);
      gate.release.shift()?.();
    }
    await expect
      .poll(
        () =>
          received()
            .toString()
            .match(/200 OK/g)?.length,
      )
      .toBe(3);
    socket.destroy();
  });

  test('a few requests ahead gets every answer, in order', async () => {
    const { socket, received } = await openConnection(service.url);
    const paths = Array.from({ length: 32 }, (_, i) => (i % 2 === 0 ? '/livez' : '/openapi.json'));
    socket.write(paths.map((path) => head('GET', path)).join(''));
    const lengths = () =>
      [
        ...received()
          .toString('latin1')
          .matchAll(/content-length: (\d+)/gi),
      ].map(([, length]) => length);
    await expect.poll(() => lengths().length).toBe(32);
    expect(new Set(lengths().filter((_, i) => i % 2 === 0)).size).toBe(1);
    expect(new Set(lengths()).size).toBe(2);
    socket.destroy();
  });

  test.each(['/livez', '/%zz'])(
    'hundreds of requests for %s ahead is closed, and the rest are not started',
    async (path) => {
      const [before, cutBefore] = [service.logLines.length, await cuts(service, 'pipelining')];
      const { socket, closed } = await openConnection(service.url);
      socket.write(head('GET', path).repeat(1_000));
      await closed;
      expect(await cuts(service, 'pipelining')).toBe(cutBefore + 1);
      await expectServed(service, 20);
      expect(service.logLines.length - before).toBeLessThan(60);
    },
  );
});

/** A client that sends 32 requests at once gets all answers. */
async function expectPipelined(service: TestService, from: string): Promise<void> {
  const { socket, received } = await openConnection(service.url, from);
  socket.write(head('GET', '/livez').repeat(32));
  await expect
    .poll(
      () =>
        received()
          .toString('latin1')
          .match(/HTTP\/1\.1 200/g)?.length,
    )
    .toBe(32);
  socket.destroy();
}

describe('many clients that pipeline', () => {
  test('are closed when too many requests of their address wait, which frees their room', async () => {
    const release: (() => void)[] = [];
    const hold = () => new Promise((resolve) => release.push(() => resolve({ ok: true })));
    const operations = { hold: probe('hold', Type.Object({ ok: Type.Boolean() })) };
    const service = await startService({ api: apiWith({ operations, handlers: { hold } }) });
    const ask = head('GET', '/v1/probe/hold', { Authorization: `Bearer ${service.key}` });
    let many: Connection[] = [];
    try {
      // 30 wait per connection, so 16 of these 80 fit. The second round has as much room as the first.
      for (const round of [1, 2]) {
        many = await open(service, 80);
        for (const { socket } of many) socket.write(ask.repeat(31));
        await expect.poll(() => cuts(service, 'pipelining')).toBe(64 * round);
        await expectServed(service, 20);
        await expectPipelined(service, '127.0.0.2');
        await expect.poll(() => many.filter(({ socket }) => socket.destroyed).length).toBe(64);
        for (const { socket } of many) socket.destroy();
        await expect
          .poll(() => service.logLines.filter((line) => line.includes('/hold')).length)
          .toBe(80 * round);
      }
    } finally {
      for (const { socket } of many) socket.destroy();
      for (const answer of release) answer();
      await service.stop();
    }
  });
});

describe('a client that does not read', () => {
  // More than the system's socket buffers hold while the client does not read.
  const text = 'x'.repeat(20 * 1024 * 1024);
  const probes = {
    operations: { large: probe('large', Type.Object({ text: Type.String() })) },
    handlers: { large: async () => ({ text }) },
  };
  const ask = (service: TestService) =>
    head('GET', '/v1/probe/large', { Authorization: `Bearer ${service.key}` });

  test('is closed after a timeout, while one that reads slowly gets everything', async () => {
    const service = await startService({ api: apiWith(probes), drainTimeoutMs: 4_000 });
    try {
      const [stalled, slow] = (await open(service, 2)) as [Connection, Connection];
      stalled.socket.pause();
      for (const { socket } of [stalled, slow]) socket.write(ask(service));
      // A tenth of the answer per second, so in total far longer than the timeout. By the clock, so that a busy machine does not
      // slow it further.
      const startedAtMs = performance.now();
      const isAhead = () => {
        const elapsedMs = performance.now() - startedAtMs;
        return slow.socket.bytesRead > (text.length / 10_000) * elapsedMs;
      };
      slow.socket.on('data', () => void (isAhead() && slow.socket.pause()));
      const reading = setInterval(() => isAhead() || slow.socket.resume(), 10);
      await expect.poll(() => cuts(service, 'unread')).toBe(1);
      await expect.poll(() => slow.received().length).toBeGreaterThan(text.length);
      clearInterval(reading);
      expect(await cuts(service, 'unread')).toBe(1);
      stalled.socket.resume();
      await stalled.closed;
      expect(stalled.received().length).toBeLessThan(text.length);
      slow.socket.destroy();
    } finally {
      await service.stop();
    }
  });

  test('is not closed while its request still runs', async () => {
    let [begun, release] = [false, () => {}];
    const wait = async () => {
      begun = true;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return { text: 'late' };
    };
    const service = await startService({
      api: apiWith({ ...probes, handlers: { large: wait } }),
      drainTimeoutMs: 200,
    });
    try {
      const { socket, reply } = await openConnection(service.url);
      socket.write(ask(service));
      await expect.poll(() => begun).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 1_000)); // five times the drain timeout
      release();
      expect((await reply()).json).toEqual({ text: 'late' });
      socket.destroy();
    } finally {
      await service.stop();
    }
  });

  test('shares a memory budget with others: when it is exceeded, the oldest are closed', async () => {
    const service = await startService({ api: apiWith(probes) });
    const stalled = await open(service, 6);
    try {
      for (const { socket } of stalled) {
        socket.pause();
        socket.write(ask(service));
      }
      // 120 MB requested, 32 MB allowed: one answer stays, or two briefly.
      await expect.poll(() => cuts(service, 'unread')).toBe(5);
      // Another account: the lists of this one wait until its answer was read.
      await expectServed({ url: service.url, ...(await service.createAccount('Other')) }, 20);
    } finally {
      for (const { socket } of stalled) socket.destroy();
      await service.stop();
    }
  });
});

describe('a client that left before its large answer was ready', () => {
  const text = 'x'.repeat(20 * 1024 * 1024); // two of these exceed the budget for unread answers
  const gate = { entered: 0, release: [] as (() => void)[] };
  const late = async () => {
    gate.entered += 1;
    await new Promise<void>((resolve) => gate.release.push(resolve));
    return { text };
  };
  const answer = Type.Object({ text: Type.String() });
  const api = apiWith({
    operations: { late: probe('late', answer), large: probe('large', answer) },
    handlers: { late, large: async () => ({ text }) },
  });
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  test.each(['a connection', 'a call from /mcp'])(
    'through %s takes no budget, and others are served',
    async (way) => {
      const app = createApp(service.service, api);
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      const entered = gate.entered + 1;
      const headers = { Authorization: `Bearer ${service.key}` };
      try {
        const gone = new AbortController();
        const { signal } = gone;
        const leaving =
          way === 'a connection'
            ? fetch(`${url}/v1/probe/late`, { headers, signal })
            : app.inject({ url: '/v1/probe/late', headers, signal });
        const left = expect(leaving).rejects.toThrow();
        await expect.poll(() => gate.entered).toBe(entered);
        const connections = () =>
          new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
        gone.abort();
        await left;
        await expect.poll(connections).toBe(0);
        gate.release.shift()?.();
        for (let i = 0; i < 3; i++) {
          const reply = await fetch(`${url}/v1/probe/large`, { headers });
          await reply.text();
          expect(reply.status).toBe(200);
        }
        expect(await cuts(service, 'unread')).toBe(0);
      } finally {
        await app.close();
      }
    },
  );
});

describe('too many clients', () => {
  const limits = { maxConnections: 20, maxConnectionsPerAddress: 20, headersTimeoutMs: 60_000 };

  test('are closed oldest first, starting with those that never sent a request', async () => {
    const service = await startService(limits);
    const served = await open(service, 2);
    const silent: Connection[] = [];
    try {
      for (const connection of served) {
        connection.socket.write(head('GET', '/livez'));
        await connection.reply();
      }
      while (silent.length < 18) silent.push(await openConnection(service.url));
      for (const { socket } of silent.slice(0, 9)) socket.write('GET /livez HTTP/1.1\r\n');
      expect((await exchange(service.url, head('GET', '/livez'))).status).toBe(200);
      // A tenth of the limit is closed to make room.
      await Promise.all(silent.slice(0, 2).map(({ closed }) => closed));
      expect((await exchange(service.url, head('GET', '/livez'))).status).toBe(200);
      expect(silent.slice(2).filter(({ socket }) => socket.destroyed)).toEqual([]);
      for (const { socket, received } of served) {
        const before = received().length;
        socket.write(head('GET', '/livez'));
        await expect.poll(() => received().length).toBeGreaterThan(before);
      }
    } finally {
      for (const { socket } of [...served, ...silent]) socket.destroy();
      await service.stop();
    }
  });

  test('make the server close the oldest idle connections, and active clients are served', async () => {
    const service = await startService(limits);
    const idle: Connection[] = [];
    try {
      while (idle.length < 20) {
        const connection = await openConnection(service.url);
        connection.socket.write(head('GET', '/livez'));
        await connection.reply();
        idle.push(connection);
      }
      expect((await exchange(service.url, head('GET', '/livez'))).status).toBe(200);
      await Promise.all(idle.slice(0, 2).map(({ closed }) => closed));
      expect(await cuts(service, 'too_many')).toBe(2);
      expect(idle.slice(2).filter(({ socket }) => socket.destroyed)).toEqual([]);
      for (let i = 0; i < 30; i++)
        expect((await exchange(service.url, head('GET', '/livez'))).status).toBe(200);
    } finally {
      for (const { socket } of idle) socket.destroy();
      await service.stop();
    }
  });
});

function probe(name: string, response: Operation['response']): Operation {
  return {
    method: 'GET',
    path: `/v1/probe/${name}`,
    tag: 'Probes',
    summary: 'A probe',
    description: 'Only in this test.',
    scope: 'read',
    status: 200,
    response,
    refusals: [],
  };
}

describe('a client that sends too much', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  test('in its headers gets 431 in our error format', async () => {
    const one = head('GET', '/v1/me', { 'X-Large': 'x'.repeat(17_000) });
    expectError(await exchange(service.url, one), 431, 'headers_too_large');
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`X-${i}`, 'x'.repeat(20)]));
    expectError(await exchange(service.url, head('GET', '/v1/me', many)), 431, 'headers_too_large');
    const query = head('GET', `/v1/products?starting_after=${'x'.repeat(17_000)}`);
    expectError(await exchange(service.url, query), 431, 'headers_too_large');
    const { values } = await service.service.metrics.errorCount.get();
    const counted = values.find(({ labels }) => labels['error_type'] === 'headers_too_large');
    expect(counted?.value).toBe(3);
  });

  test('in endless headers gets 431 in our error format and is closed', async () => {
    const connection = await openConnection(service.url);
    connection.socket.write('GET /v1/me HTTP/1.1\r\nHost: x\r\n');
    await flood(connection, `X-More: ${'x'.repeat(1_000)}\r\n`);
    expectError(parseReply(connection.received()), 431, 'headers_too_large');
  });

  test('that is not HTTP gets 400 in our error format', async () => {
    for (const garbage of [
      '\u0000\u0001\u0002\u0003\r\n\r\n',
      'HELO example.com\r\n',
      'GET\r\n\r\n',
      '{"a":1}\n',
    ])
      expectError(await exchange(service.url, garbage), 400, 'request_malformed');
  });

  test.each([
    ['of declared length', (size: number) => ({ 'Content-Length': size })],
    ['in chunks', () => ({ 'Transfer-Encoding': 'chunked' })],
  ])('in a body %s gets a complete 413 in our error format', async (_, length) => {
    const size = 300_000;
    const body = product.padEnd(size);
    const headers = length(size);
    const framed = 'Content-Length' in headers ? body : `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    for (let i = 0; i < 20; i++) {
      const reply = await exchange(
        service.url,
        jsonHead(service, headers as Record<string, string>) + framed,
      );
      expectError(reply, 413, 'body_too_large');
    }
  });

  test('in an endless body gets 413 after little of it is read, and is closed', async () => {
    const connection = await openConnection(service.url);
    connection.socket.write(jsonHead(service, { 'Transfer-Encoding': 'chunked' }));
    const sentBytes = await flood(connection, `10000\r\n${' '.repeat(0x10000)}\r\n`);
    expectError(parseReply(connection.received()), 413, 'body_too_large');
    expect(sentBytes).toBeLessThan(100 * 1024 * 1024); // held by socket buffers, not by the server
  });

  test('in an endless form for an install page is closed after little of it is read', async () => {
    const connection = await openConnection(service.url);
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'Transfer-Encoding': 'chunked' };
    connection.socket.write(head('POST', '/i/none', form));
    const sentBytes = await flood(connection, `10000\r\n${' '.repeat(0x10000)}\r\n`);
    expect(parseReply(connection.received())?.status).toBe(404);
    expect(sentBytes).toBeLessThan(100 * 1024 * 1024);
  });

  test.each([1, 7, 1_000, 100_000])('in chunks of %i bytes is still read completely', async (size) => {
    const records = Array.from({ length: size < 10 ? 300 : 9_000 }, (_, i) => ({
      record_id: `r-${size}-${i}`,
      iccid: '8999912345678901234',
      bytes: i,
      at: Math.floor(Date.now() / 1_000),
    }));
    const body = JSON.stringify({ records });
    const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
      body.slice(i * size, (i + 1) * size),
    );
    const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('');
    const headers = {
      Authorization: `Bearer ${service.key}`,
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
    };
    const reply = await exchange(
      service.url,
      `${head('POST', '/v1/usage_records', headers)}${chunks}0\r\n\r\n`,
    );
    // None of these eSIMs exist, and every record was read.
    expect(reply.json).toMatchObject({ accepted: 0, rejected: records.length });
  });

  test('does not disturb other clients', async () => {
    const connections = await open(service, 10);
    const floods = connections.map((connection) => {
      connection.socket.write(jsonHead(service, { 'Transfer-Encoding': 'chunked' }));
      return flood(connection, `10000\r\n${' '.repeat(0x10000)}\r\n`);
    });
    await expectServed(service, 40);
    await Promise.all(floods);
    await expectServed(service, 20);
  });
});

/** Repeats the text as fast as it is accepted until the connection closes. Returns the bytes sent. */
async function flood({ socket, closed }: Connection, text: string): Promise<number> {
  let sentBytes = 0;
  const writeMore = () => {
    while (!socket.destroyed && socket.writable) {
      sentBytes += text.length;
      if (!socket.write(text)) break;
    }
  };
  socket.on('drain', writeMore);
  writeMore();
  await closed;
  return sentBytes - socket.writableLength;
}

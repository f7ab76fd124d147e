import type { Operation } from '@simplane/contract';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, type Reply } from '../support/client.ts';
import { type Connection, exchange, head, openConnection, parseReply } from '../support/raw-http.ts';
import { apiWith, startService, type TestService } from '../support/service.ts';

const patience = { timeout: 5_000 };
const product = JSON.stringify({ product_id: 'prod_europe_5gb_30d' });

function jsonHead(service: TestService, length: Record<string, string | number>): string {
  const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json', ...length };
  return head('POST', '/v1/esims', headers);
}

function expectForm(reply: Reply | null, status: number, code: string): void {
  expect(reply?.json, reply?.text).toMatchObject({
    error: { code, message: expect.any(String), request_id: reply?.headers.get('request-id') },
  });
  expect(reply?.status).toBe(status);
  expect(reply?.headers.get('request-id')).toMatch(/^req_/);
  expect(reply?.headers.get('service-version')).toBe('2026-11-01');
  expect(reply?.headers.get('content-type')).toMatch(/^application\/json/);
}

/** Sends a byte every now and then until the other side has had enough. */
function drip(connection: Connection, bytes: string): Promise<void> {
  let at = 0;
  const timer = setInterval(() => connection.socket.write(bytes[at++ % bytes.length] ?? ''), 20);
  return connection.closed.finally(() => clearInterval(timer));
}

function open(service: TestService, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => openConnection(service.url)));
}

async function expectServed(service: TestService, count: number): Promise<void> {
  for (let done = 0; done < count; done += 20) {
    const replies = await Promise.all(Array.from({ length: 20 }, () => call(service, 'GET', '/v1/products')));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  }
}

const faultLines = (service: TestService) =>
  service.logLines.filter((line) => JSON.parse(line).status >= 500);

describe('a client that sends slowly', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ headersTimeoutMs: 500, requestTimeoutMs: 1_000 });
  });
  afterAll(() => service.stop());

  test('drips its headers: it is answered 408 or closed, and all others are served meanwhile', async () => {
    const slow = await open(service, 40);
    const ends = slow.map((connection) =>
      drip(connection, 'GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Slow: aaaaaa'),
    );
    await expectServed(service, 200);
    await Promise.all(ends);
    for (const { received } of slow) {
      if (received().length > 0) expectForm(parseReply(received()), 408, 'request_timeout');
    }
    await expectServed(service, 20);
  });

  test('drips its body: it is answered 408 or closed, and all others are served meanwhile', async () => {
    const slow = await open(service, 40);
    for (const { socket } of slow) socket.write(jsonHead(service, { 'Content-Length': 100_000 }));
    const ends = slow.map((connection) => drip(connection, ' '));
    await expectServed(service, 200);
    await Promise.all(ends);
    for (const { received } of slow) {
      if (received().length > 0) expectForm(parseReply(received()), 408, 'request_timeout');
    }
    await expectServed(service, 20);
  });

  test('falls silent in its headers: it is answered 408 in our form', async () => {
    expectForm(await exchange(service.url, 'GET /v1/me HTTP/1.1\r\nHost: x\r\nX-'), 408, 'request_timeout');
  });

  test('falls silent in a body of known or of unknown length: it is answered 408 in our form', async () => {
    const known = await exchange(service.url, `${jsonHead(service, { 'Content-Length': 100 })}{`);
    expectForm(known, 408, 'request_timeout');
    const chunked = await exchange(
      service.url,
      `${jsonHead(service, { 'Transfer-Encoding': 'chunked' })}1\r\n{\r\n`,
    );
    expectForm(chunked, 408, 'request_timeout');
  });

  test('gets one answer only when it was refused before its body came', async () => {
    const connection = await openConnection(service.url);
    connection.socket.write(`${head('POST', '/v1/esims', { 'Content-Length': 100 })}{`);
    await connection.closed;
    const statuses = connection
      .received()
      .toString()
      .match(/HTTP\/1\.1 \d{3}/g);
    expect(statuses).toEqual(['HTTP/1.1 401']);
  });

  test('is never counted as a fault of ours', async () => {
    await expect
      .poll(() => service.logLines.filter((line) => line.includes('request_timeout')).length, patience)
      .toBeGreaterThan(0);
    expect(faultLines(service)).toEqual([]);
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
        status: 200,
        response: Type.Object({ ok: Type.Boolean() }),
        refusals: [],
      } satisfies Operation,
    },
    handlers: {
      wait: async () => {
        gate.entered();
        await gate.opened;
        const answer = { status: 200, location: null, body: '{"ok":true}' };
        return { kind: 'answered', replayed: false, answer };
      },
    },
  };

  test('in the middle of its body is not counted as a fault of ours', async () => {
    const gone = await open(service, 20);
    for (const { socket } of gone) socket.write(`${jsonHead(service, { 'Content-Length': 100 })}{`);
    await expectServed(service, 20);
    for (const { socket } of gone) socket.resetAndDestroy();
    await Promise.all(gone.map(({ closed }) => closed));
    await expectServed(service, 20);
    expect(faultLines(service)).toEqual([]);
  });

  test('while its request runs still leaves one line in the log, since the work was done', async () => {
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
      .poll(() => service.logLines.filter((line) => line.includes('/v1/probe/wait')).length, patience)
      .toBe(1);
    expect(faultLines(service)).toEqual([]);
  });
});

describe('a client that holds on', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ headersTimeoutMs: 60_000, requestTimeoutMs: 120_000 });
  });
  afterAll(() => service.stop());

  test('with a thousand idle connections does not keep others out', async () => {
    const idle: Connection[] = [];
    try {
      while (idle.length < 1_000) idle.push(...(await open(service, 50)));
      // Half of them have sent a request and are kept alive, half never said a word.
      const used = idle.filter((_, index) => index % 2 === 0);
      for (const { socket } of used) socket.write(head('GET', '/livez'));
      const answers = await Promise.all(used.map((connection) => connection.reply()));
      expect(answers.every(({ status }) => status === 200)).toBe(true);

      const fresh = head('GET', '/v1/me', { Authorization: `Bearer ${service.key}` });
      for (let i = 0; i < 10; i++) expect((await exchange(service.url, fresh)).status).toBe(200);
      await expectServed(service, 100);
      expect(idle.filter(({ socket }) => socket.destroyed)).toEqual([]);
    } finally {
      for (const { socket } of idle) socket.destroy();
      await Promise.all(idle.map(({ closed }) => closed));
    }
    await expectServed(service, 20);
  });

  test('and never reads what it asked for does not keep others waiting', async () => {
    const deaf = await open(service, 10);
    try {
      for (const { socket } of deaf) {
        socket.pause();
        socket.write(head('GET', '/openapi.json').repeat(500));
      }
      await expectServed(service, 200);
      expect(deaf.filter(({ socket }) => socket.destroyed)).toEqual([]);
    } finally {
      for (const { socket } of deaf) socket.destroy();
      await Promise.all(deaf.map(({ closed }) => closed));
    }
    await expectServed(service, 20);
  });

  test.each([
    ['with a good key', (own: TestService) => own.key],
    ['with keys that nobody issued', (_: TestService, index: number) => `sp_test_${index}`],
  ])('and pipelines thousands of requests %s does not keep others out', async (_, keyOf) => {
    const own = await startService();
    const deaf = await open(own, 4);
    try {
      for (const [place, { socket }] of deaf.entries()) {
        const requests = Array.from({ length: 5_000 }, (_, index) =>
          head('GET', '/v1/products?limit=100', {
            Authorization: `Bearer ${keyOf(own, place * 5_000 + index)}`,
          }),
        );
        socket.pause();
        socket.write(requests.join(''));
      }
      await expectServed(own, 200);
    } finally {
      for (const { socket } of deaf) socket.destroy();
      await Promise.all(deaf.map(({ closed }) => closed));
      await own.stop();
    }
  });
});

describe('a client that sends too much', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  test('in its headers gets 431 in our form', async () => {
    const one = head('GET', '/v1/me', { 'X-Large': 'x'.repeat(17_000) });
    expectForm(await exchange(service.url, one), 431, 'headers_too_large');
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`X-${i}`, 'x'.repeat(20)]));
    expectForm(await exchange(service.url, head('GET', '/v1/me', many)), 431, 'headers_too_large');
    const query = head('GET', `/v1/products?starting_after=${'x'.repeat(17_000)}`);
    expectForm(await exchange(service.url, query), 431, 'headers_too_large');
  });

  test('in headers that never end gets 431 in our form, and is closed', async () => {
    const connection = await openConnection(service.url);
    connection.socket.write('GET /v1/me HTTP/1.1\r\nHost: x\r\n');
    await flood(connection, `X-More: ${'x'.repeat(1_000)}\r\n`);
    expectForm(parseReply(connection.received()), 431, 'headers_too_large');
  });

  test('that is not HTTP gets 400 in our form', async () => {
    for (const garbage of [
      '\u0000\u0001\u0002\u0003\r\n\r\n',
      'HELO example.com\r\n',
      'GET\r\n\r\n',
      '{"a":1}\n',
    ])
      expectForm(await exchange(service.url, garbage), 400, 'request_malformed');
  });

  test.each([
    ['of a length that it announces', (size: number) => ({ 'Content-Length': size })],
    ['in chunks', () => ({ 'Transfer-Encoding': 'chunked' })],
  ])('in a body %s gets 413 in our form, whole', async (_, length) => {
    const size = 300_000;
    const body = product.padEnd(size);
    const headers = length(size);
    const framed = 'Content-Length' in headers ? body : `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    for (let i = 0; i < 20; i++) {
      const reply = await exchange(
        service.url,
        jsonHead(service, headers as Record<string, string>) + framed,
      );
      expectForm(reply, 413, 'body_too_large');
    }
  });

  test('in a body that never ends gets 413 after little of it was taken, and is closed', async () => {
    const connection = await openConnection(service.url);
    connection.socket.write(jsonHead(service, { 'Transfer-Encoding': 'chunked' }));
    const sentBytes = await flood(connection, `10000\r\n${' '.repeat(0x10000)}\r\n`);
    expectForm(parseReply(connection.received()), 413, 'body_too_large');
    expect(sentBytes).toBeLessThan(100 * 1024 * 1024); // what the sockets in between hold, not what the server keeps
  });

  test('does not disturb those who send what they may', async () => {
    const connections = await open(service, 10);
    const floods = connections.map((connection) => {
      connection.socket.write(jsonHead(service, { 'Transfer-Encoding': 'chunked' }));
      return flood(connection, `10000\r\n${' '.repeat(0x10000)}\r\n`);
    });
    await expectServed(service, 100);
    await Promise.all(floods);
    await expectServed(service, 20);
  });
});

/** Sends the same again and again, as fast as it is taken, until the connection is closed. Tells how much it was. */
async function flood({ socket, closed }: Connection, text: string): Promise<number> {
  let sentBytes = 0;
  const pour = () => {
    while (!socket.destroyed && socket.writable) {
      sentBytes += text.length;
      if (!socket.write(text)) break;
    }
  };
  socket.on('drain', pour);
  pour();
  await closed;
  return sentBytes - socket.writableLength;
}

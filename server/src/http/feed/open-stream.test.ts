import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import type { Hub } from '../../notify/feed/hub.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { openStream, type Stream } from './open-stream.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers) server.close();
});

/** A stream whose first page comes when the test gives it out. */
async function startStream(hub: Partial<Hub>, types: readonly string[] | null = null) {
  let give: (rows: object[]) => void = () => {};
  let fail: (error: Error) => void = () => {};
  let readCount = 0;
  const unreadBytes: number[] = [];
  const db = {
    query: () =>
      new Promise((resolve, reject) => {
        readCount += 1;
        [give, fail] = [resolve, reject];
      }),
  } as unknown as Queryable;
  const opened = new Promise<{ stream: Stream; answer: ServerResponse; closed: Promise<unknown> }>(
    (resolve) => {
      const server = createServer((raw, response) => {
        const reply = { raw: response, hijack() {}, getHeaders: () => ({}) } as unknown as FastifyReply;
        const parts = {
          feed: { db, account: { id: 'acct_1', uuid: 'u1' }, cell: null },
          hub: { leave() {}, join: () => true, ...hub } as Hub,
          unread: {
            reserve: async () => {},
            shrink() {},
            add: (_: unknown, bytes: number) => void unreadBytes.push(bytes),
            end() {},
          },
          onCut() {},
        };
        const start = { place: { position: 0, mark: 0 }, types };
        const closed = once(response, 'close');
        const stream = openStream({ raw } as FastifyRequest, reply, parts, start);
        resolve({ stream, answer: response, closed });
      }).listen(0, '127.0.0.1');
      servers.push(server);
    },
  );
  const server = servers.at(-1) as Server;
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = get({ port, host: '127.0.0.1' });
  client.on('error', () => {});
  const response = await new Promise<IncomingMessage>((resolve) => client.once('response', resolve));
  response.on('error', () => {});
  const read = {
    give: (rows: object[]) => give(rows),
    fail: () => fail(new Error('away')),
    readCount: () => readCount,
  };
  return { ...(await opened), client, response, unreadBytes, ...read };
}

const eventAt = (position: number) => ({ position, mark: 1, type: 'a.b', body: '{}' });
const frameAt = (position: number) => ({ ...eventAt(position), bytes: Buffer.from(`data: ${position}\n\n`) });

const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test('a client that leaves during the last read of its past is not added to the live streams', async () => {
  let joinCount = 0;
  const join = () => {
    joinCount += 1;
    return true;
  };
  const { client, closed, give } = await startStream({ join });
  client.destroy();
  await closed;
  give([]);
  await turns();
  expect(joinCount).toBe(0);
});

test('a page that is read while the stream is ended is not written', async () => {
  const { stream, response, give, closed } = await startStream({});
  stream.end();
  give([1, 2, 3].map((position) => ({ position, mark: 1, type: 'a.b', body: '{}' })));
  let text = '';
  for await (const chunk of response) text += chunk;
  await closed;
  await turns();
  expect(text).not.toContain('data:');
});

test('a client that does not read gets no beat, which would put off the end of its connection', async () => {
  const { stream, client, answer, give } = await startStream({});
  // More than the kernel takes for a client that does not read.
  give([{ position: 1, mark: 1, type: 'a.b', body: 'x'.repeat(32 * 1024 * 1024) }]);
  await turns();
  const unreadBytes = answer.writableLength;
  expect(answer.writableNeedDrain).toBe(true);
  stream.beat();
  expect(answer.writableLength).toBe(unreadBytes);
  client.destroy();
});

test('a live stream sends each event once, and closes rather than skip one', async () => {
  const live: { take(frames: object[]): void }[] = [];
  const join = (_: unknown, one: { take(frames: never[]): void }) => live.push(one as never) > 0;
  const { response, answer, give } = await startStream({ join: join as unknown as Hub['join'] });
  let text = '';
  response.on('data', (chunk) => {
    text += chunk;
  });
  give([eventAt(1)]);
  await turns();
  give([eventAt(1)]);
  await turns();
  live[0]?.take([frameAt(1), frameAt(2)]);
  live[0]?.take([frameAt(2), frameAt(3)]);
  await expect.poll(() => text, { timeout: 20_000 }).toContain('data: 3');
  expect(text.match(/data: .*/g)).toEqual(['data: {}', 'data: 2', 'data: 3']);
  live[0]?.take([frameAt(5)]);
  await expect.poll(() => answer.closed, { timeout: 20_000 }).toBe(true);
  expect(text).not.toContain('data: 5');
});

test('a stream that cannot read ends, and so does one whose place was removed', async () => {
  const failing = await startStream({});
  failing.fail();
  await expect.poll(() => failing.answer.closed, { timeout: 20_000 }).toBe(true);
  const expired = await startStream({});
  expired.response.resume();
  expired.give([eventAt(1)]);
  await turns();
  expired.give([]);
  await expect.poll(() => expired.answer.closed, { timeout: 20_000 }).toBe(true);
});

test('a stream whose client has left leaves the hub', async () => {
  let leftCount = 0;
  const leave = () => {
    leftCount += 1;
  };
  const { client, closed, give } = await startStream({ leave });
  give([]);
  await turns();
  client.destroy();
  await closed;
  expect(leftCount).toBe(1);
});

test('a stream reads on once its client has read', async () => {
  const { response, answer, give, readCount } = await startStream({});
  give([{ ...eventAt(1), body: 'x'.repeat(32 * 1024 * 1024) }]);
  await turns();
  expect([answer.writableNeedDrain, readCount()]).toEqual([true, 1]);
  response.resume();
  await expect.poll(readCount, { timeout: 20_000 }).toBe(2);
  response.destroy();
});

test('a beat tells a place that the types hide, once', async () => {
  const { stream, response, give } = await startStream({}, ['c.d']);
  let text = '';
  response.on('data', (chunk) => {
    text += chunk;
  });
  give([{ ...eventAt(1), body: '' }]);
  await turns();
  stream.beat();
  stream.beat();
  stream.beat();
  await expect.poll(() => text, { timeout: 20_000 }).toContain(':\n\n:\n\n');
  expect(text.match(/^id: /gm)).toHaveLength(2);
  response.destroy();
});

test('what the client of a stream has not read counts as unread, until it has', async () => {
  const { response, answer, give, unreadBytes } = await startStream({});
  give([{ ...eventAt(1), body: 'x'.repeat(32 * 1024 * 1024) }]);
  await turns();
  expect(unreadBytes.at(-1)).toBe(answer.writableLength);
  expect(answer.writableLength).toBeGreaterThan(1024 * 1024);
  response.resume();
  await expect.poll(() => unreadBytes.at(-1), { timeout: 20_000 }).toBe(0);
  response.destroy();
});

test('a stream does not keep its connection, which would hold up a shutdown, and nothing in between keeps its events', async () => {
  const { response } = await startStream({});
  expect(response.headers).toMatchObject({
    ...{ connection: 'close', 'content-type': 'text/event-stream; charset=utf-8' },
    ...{ 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  });
  response.destroy();
});

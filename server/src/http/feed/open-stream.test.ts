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
async function startStream(hub: Partial<Hub>) {
  let give: (rows: object[]) => void = () => {};
  const db = {
    query: () =>
      new Promise((resolve) => {
        give = resolve;
      }),
  } as unknown as Queryable;
  const opened = new Promise<{ stream: Stream; answer: ServerResponse; closed: Promise<unknown> }>(
    (resolve) => {
      const server = createServer((raw, response) => {
        const reply = { raw: response, hijack() {}, getHeaders: () => ({}) } as unknown as FastifyReply;
        const parts = {
          feed: { db, account: { id: 'acct_1', uuid: 'u1' }, cell: null },
          hub: { leave() {}, join: () => true, ...hub } as Hub,
          unread: { reserve: async () => {}, shrink() {}, add() {}, end() {} },
          onCut() {},
        };
        const start = { place: { position: 0, mark: 0 }, types: null };
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
  return { ...(await opened), client, response, give: (rows: object[]) => give(rows) };
}

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

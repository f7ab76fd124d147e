import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../../server/test/support/client.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { callTool, refusalOf } from './support/call.ts';
import { connectHttp, connectStdio } from './support/connect.ts';

const maxLength = 40_000;
const perKey = 2;

let service: TestService;
beforeAll(async () => {
  service = await startService({ streamsPerKey: perKey });
  service.startSequencer();
});
afterAll(() => service.stop());

async function send(type: string, data: object = {}): Promise<string> {
  return (await call(service, 'POST', '/v1/events/test', { body: { type, data } })).json.id;
}

/** The requests of the feed that have been answered. */
const feedRequests = () =>
  service.logLines.map((line) => JSON.parse(line)).filter(({ route }) => route === '/v1/events/feed');

/** Returns when the tool has found its place: from now on it sees every event. */
async function asksForPlace(before: number): Promise<void> {
  await until(
    async () => feedRequests().length,
    (count) => count > before,
  );
}

describe.each([
  ['HTTP', connectHttp],
  ['stdio', connectStdio],
] as const)('over %s', (_, connect) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(service);
    await client.listTools(); // from now on the client validates results against the output schemas
  });
  afterAll(() => client.close());

  test('returns the first event of the type and eSIM, and its cursor skips none of the next', async () => {
    await send('my.event', { iccid: 'earlier' });
    const before = feedRequests().length;
    const waiting = callTool(client, 'wait_for_event', { type: 'my.*', iccid: '1' });
    await asksForPlace(before);
    await send('other.event', { iccid: '1' });
    await send('my.event', { iccid: '2' });
    const first = await send('my.event', { iccid: '1' });
    const found = await waiting;
    expect(found).toMatchObject({ event: { id: first }, cursor: expect.any(String) });
    expect(found).not.toHaveProperty('note');

    const next = [await send('my.event', { iccid: '1' }), await send('my.event', { iccid: '1' })];
    await send('my.event', { iccid: '2' });
    let after = found.cursor;
    for (const id of next) {
      const answer = await callTool(client, 'wait_for_event', { type: 'my.event', iccid: '1', after });
      expect(answer.event.id).toBe(id);
      after = answer.cursor;
    }
  });

  test('says that none came, and from which cursor to go on without missing one', async () => {
    const none = await callTool(client, 'wait_for_event', { type: 'never.comes', wait_seconds: 1 });
    expect(none).toMatchObject({
      event: null,
      note: expect.stringContaining('wait_for_event again with after set to cursor'),
    });
    const id = await send('never.comes');
    const { event } = await callTool(client, 'wait_for_event', { type: 'never.comes', after: none.cursor });
    expect(event.id).toBe(id);
  });

  test('a large event is cut, its cursor is not', async () => {
    const { cursor } = await callTool(client, 'wait_for_event', { type: 'large.event', wait_seconds: 1 });
    await send('large.event', Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`field_${n}`, n])));
    const answer = await callTool(client, 'wait_for_event', { type: 'large.event', after: cursor });
    expect(JSON.stringify(answer).length).toBeLessThanOrEqual(maxLength);
    expect(answer.note).toContain('cut');
    const next = await send('large.event');
    expect(
      (await callTool(client, 'wait_for_event', { type: 'large.event', after: answer.cursor })).event.id,
    ).toBe(next);
  });

  test.each([
    [{}, /type must be an event type.*got nothing/],
    [{ type: ['my.event'] }, /type must be an event type/],
    [{ type: 'NOT' }, /parameter_invalid.*type/],
    [{ type: 'my.event', iccid: 1 }, /iccid must be/],
    [{ type: 'my.event', wait_seconds: 0 }, /wait_seconds must be an integer from 1 to 30/],
    [{ type: 'my.event', wait_seconds: 31 }, /wait_seconds must be an integer from 1 to 30/],
    [{ type: 'my.event', after: 'made-up' }, /cursor_invalid.*\nArgument: after\nWhat to do: Start again/],
  ])('%j is explained', async (args, expected) => {
    const text = await refusalOf(client, 'wait_for_event', args);
    expect(text).toMatch(expected);
    expect(text).not.toMatch(/\/v1\//);
  });
});

describe('on the server', () => {
  const clients: Client[] = [];
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

  async function connected(target: { url: string; key: string } = service) {
    const client = await connectHttp(target);
    clients.push(client);
    return client;
  }

  test('waits count against the key’s limit, block no other call, and a canceled one is given back', async () => {
    const key = await service.createKey();
    const client = await connected({ url: service.url, key });
    const canceling = new AbortController();
    const reporting = new Set<number>();
    const ends = Array.from({ length: perKey }, (_, index) =>
      client
        .callTool(
          { name: 'wait_for_event', arguments: { type: 'limit.*', iccid: 'none', wait_seconds: 30 } },
          { signal: canceling.signal, onprogress: () => void reporting.add(index) },
        )
        .then(
          () => 'answered',
          () => 'canceled',
        ),
    );
    // An event of another eSIM shows that they wait: each reports it and waits on.
    await until(
      async () => {
        await send('limit.event', { iccid: 'other' });
        return reporting.size;
      },
      (count) => count === perKey,
    );
    const probe = async () => {
      const { status } = await call(
        { ...service, key },
        'GET',
        '/v1/events/feed?after=now&wait=1&type=no.such',
      );
      // It held a place itself, which one of them may have needed: leave it time to try again.
      if (status === 200) await new Promise((resolve) => setTimeout(resolve, 2_000));
      return status;
    };
    await until(probe, (status) => status === 429);
    expect((await callTool(client, 'list_products', { limit: 1 })).data).toHaveLength(1);

    canceling.abort();
    expect(await Promise.all(ends)).toEqual(ends.map(() => 'canceled'));
    const canceledMs = performance.now();
    await until(probe, (status) => status === 200);
    expect(performance.now() - canceledMs).toBeLessThan(7_000); // they would have waited for 10 s
  });

  test('a shutdown answers a wait with the cursor to go on from', async () => {
    const stopping = await startService();
    stopping.startSequencer();
    const client = await connected(stopping);
    const waiting = callTool(client, 'wait_for_event', { type: 'never.comes', wait_seconds: 30 });
    await until(
      async () => stopping.logLines.some((line) => line.includes('/v1/events/feed')),
      (isAsked) => isAsked,
    );
    await stopping.stop();
    expect(await waiting).toMatchObject({ event: null, cursor: expect.any(String) });
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readEvents } from '../../src/notify/feed/sql/read.ts';
import { call } from '../support/client.ts';
import { head, openConnection } from '../support/raw-http.ts';
import { removeOld } from '../support/remove-old.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { openSse } from '../support/sse.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let target: { url: string; key: string; accountUuid: string };
const day = 86_400_000;

beforeAll(async () => {
  service = await startService({ streamsPerKey: 3, streamBeatMs: 100 });
  service.startSequencer();
});
afterAll(() => service.stop());
beforeEach(async () => {
  target = { url: service.url, ...(await service.createAccount('Reader')) };
});

const publish = async (type = 'a.b', data: object = {}): Promise<string> =>
  (await call(target, 'POST', '/v1/events/test', { body: { type, data } })).json.id;
const read = (query: string) => call(target, 'GET', `/v1/events/feed?${query}`);
const idsOf = ({ json }: { json: { data: { id: string }[] } }) => json.data.map(({ id }) => id);

/** Waits until all published events have positions. */
const settled = () => sequenceEvents(service);

async function publishMany(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await publish('a.b', { number: i }));
  await settled();
  return ids;
}

describe('a page of the feed', () => {
  test('has the events after the cursor, oldest first, with the bytes of the event list', async () => {
    const ids = await publishMany(5);
    const first = await read('after=start&limit=3');
    expect(first.json).toMatchObject({ object: 'event_feed', caught_up: false });
    const rest = await read(`after=${first.json.cursor}`);
    expect([...idsOf(first), ...idsOf(rest)]).toEqual(ids);
    expect(rest.json.caught_up).toBe(true);
    const listed = (await call(target, 'GET', '/v1/events?limit=5')).json.data.reverse();
    expect([...first.json.data, ...rest.json.data]).toEqual(listed);
    const one = await call(target, 'GET', `/v1/events/${ids[0]}`);
    expect(first.text).toContain(one.text);
  });

  test('is what HEAD answers about, whatever it accepts, because its answer must end', async () => {
    const headers = { Accept: 'text/event-stream' };
    const { status, headers: answered } = await call(target, 'HEAD', '/v1/events/feed', { headers });
    expect([status, answered.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  });

  test('begins at the end by default, and its cursor is the place to continue from', async () => {
    await publishMany(2);
    const now = (await read('')).json;
    expect(now).toMatchObject({ data: [], caught_up: true });
    expect((await read(`after=${now.cursor}`)).json).toEqual(now);
    const id = await publish();
    await settled();
    expect(idsOf(await read(`after=${now.cursor}`))).toEqual([id]);
  });

  test('follows a cursor in an account without events', async () => {
    const { cursor } = (await read('after=start')).json;
    const ids = await publishMany(1);
    expect(idsOf(await read(`after=${cursor}`))).toEqual(ids);
  });

  test('begins with the first event created at or after `since`', async () => {
    await publishMany(2);
    service.clock.advance(10_000);
    const since = Math.floor(service.clock.nowMs() / 1_000);
    const later = await publishMany(2);
    expect(idsOf(await read(`since=${since}`))).toEqual(later);
    expect(idsOf(await read('since=0'))).toHaveLength(4);
    expect(idsOf(await read(`since=${since + 3_600}`))).toEqual([]);
  });

  test('with a filter passes the hidden events by, so that they are not read again', async () => {
    await publishMany(3);
    const wanted = await publish('esim.test', {});
    await publish('bundle.test', {});
    await settled();
    const page = await read('after=start&type=esim.*,a.c');
    expect(idsOf(page)).toEqual([wanted]);
    const next = await read(`after=${page.json.cursor}&type=esim.*`);
    expect([idsOf(next), next.json.caught_up]).toEqual([[], true]);
    // A cursor does not belong to a filter.
    expect(idsOf(await read(`after=${page.json.cursor}`))).toEqual([]);
  });

  test('of large events is shorter than its limit and loses none', async () => {
    const big = 'x'.repeat(200_000);
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push(await publish('a.big', { big }));
    await settled();
    const seen: string[] = [];
    let after = 'start';
    for (let page = await read('after=start'); ; page = await read(`after=${after}`)) {
      expect(page.text.length).toBeLessThan(5 * 1024 * 1024);
      seen.push(...idsOf(page));
      after = page.json.cursor;
      if (page.json.caught_up) break;
    }
    expect(seen).toEqual(ids);
    const bounds = { after: 0, count: 30, maxBytes: 300_000, types: null };
    expect(await readEvents(service.db, target.accountUuid, bounds)).toHaveLength(2);
    // The event of the place itself does not count.
    const next = await readEvents(service.db, target.accountUuid, { ...bounds, after: 1, maxBytes: 1 });
    expect(next.map(({ position }) => position)).toEqual([1, 2]);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['wait=31', 'wait'],
    ['after=', 'after'],
    ['type=', 'type'],
    ['after=start&since=0', 'since'],
    ['consumer=a&after=start', 'consumer'],
    ['consumer=a&type=a.b', 'consumer'],
    ['starting_after=x', 'starting_after'],
  ])('refuses %s and names the parameter', async (query, param) => {
    const { status, json } = await read(query);
    expect([status, json.error.param]).toEqual([400, param]);
  });

  test('refuses a cursor that was changed, or that belongs to another account', async () => {
    await publishMany(1);
    const { cursor } = (await read('after=start')).json;
    const other = { url: service.url, ...(await service.createAccount('Other')) };
    const changed = `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`;
    for (const reply of [
      await call(other, 'GET', `/v1/events/feed?after=${cursor}`),
      await read(`after=${changed}`),
      await read('after=2026-01-01'),
    ]) {
      expect([reply.status, reply.json.error.code]).toEqual([400, 'cursor_invalid']);
    }
  });
});

describe('a request that waits', () => {
  test('is answered as soon as an event of its types comes', async () => {
    const { cursor } = (await read('')).json;
    const waiting = read(`after=${cursor}&wait=30&type=a.wanted`);
    await publish('a.other');
    const id = await publish('a.wanted');
    expect(idsOf(await waiting)).toEqual([id]);
  });

  test('ends with an empty page when its time is over', async () => {
    const { status, json } = await read('wait=1');
    expect([status, json.data, json.caught_up]).toEqual([200, [], true]);
  });
});

describe('a stream', () => {
  test('sends what there is and then what comes, with the cursor as id and the stored bytes', async () => {
    const before = await publishMany(3);
    const stream = await openSse(target, '/v1/events/feed?after=start');
    const after = [await publish(), await publish()];
    await until(
      async () => stream.messages.length,
      (count) => count === 5,
    );
    stream.close();
    expect(stream.messages.map(({ data }) => JSON.parse(data).id)).toEqual([...before, ...after]);
    expect(stream.messages[0]?.event).toBe('a.b');
    const { text } = await call(target, 'GET', `/v1/events/${before[0]}`);
    expect(stream.messages[0]?.data).toBe(text);
    expect(idsOf(await read(`after=${stream.messages[1]?.id}`))).toEqual([...before, ...after].slice(2));
  });

  test('resumes after `Last-Event-ID`, whatever its address says', async () => {
    const ids = await publishMany(4);
    const first = await openSse(target, '/v1/events/feed?after=start');
    await until(
      async () => first.messages.length,
      (count) => count === 4,
    );
    first.close();
    const again = await openSse(target, '/v1/events/feed?after=start', {
      'Last-Event-ID': first.messages[1]?.id ?? '',
    });
    await until(
      async () => again.messages.length,
      (count) => count === 2,
    );
    again.close();
    expect(again.messages.map(({ data }) => JSON.parse(data).id)).toEqual(ids.slice(2));
  });

  test('sends an id at once, so that it can be resumed before the first event', async () => {
    await publishMany(1);
    const stream = await openSse(target, '/v1/events/feed');
    await until(
      async () => stream.lastId(),
      (id) => id !== '',
    );
    stream.close();
    expect(stream.lastId()).toBe((await read('')).json.cursor);
  });

  test('is known to the sequencer for as long as it is open', async () => {
    const hasReaders = () => [...service.service.feedReaders].some((has) => has());
    await until(
      async () => hasReaders(),
      (has) => !has,
    );
    const stream = await openSse(target, '/v1/events/feed');
    await until(
      async () => hasReaders(),
      (has) => has,
    );
    stream.close();
    await until(
      async () => hasReaders(),
      (has) => !has,
    );
  });

  test('shows regularly that it lives, and how far it is when its types hide the events', async () => {
    const stream = await openSse(target, '/v1/events/feed?type=a.wanted');
    await until(
      async () => stream.comments(),
      (count) => count >= 2,
    );
    await publishMany(2);
    const { cursor } = (await read('')).json;
    await until(
      async () => stream.lastId(),
      (id) => id === cursor,
    );
    stream.close();
    expect(stream.messages).toEqual([]);
  });

  test('that nobody reads is cut and takes no memory; its client resumes', async () => {
    const { socket, closed } = await openConnection(service.url);
    socket.pause();
    socket.write(
      head('GET', '/v1/events/feed', { Authorization: `Bearer ${target.key}`, Accept: 'text/event-stream' }),
    );
    const reader = await openSse(target, '/v1/events/feed');
    const big = 'x'.repeat(250_000);
    const cut = async () =>
      (await service.service.metrics.registry.metrics()).match(/cut_total.reason="slow_stream". (\d+)/)?.[1];
    let published = 0;
    await until(
      async () => {
        await publish('a.big', { big });
        published += 1;
        return (await cut()) ?? '0';
      },
      (count) => count === '1',
    );
    socket.destroy();
    await closed;
    await until(
      async () => reader.messages.length,
      (count) => count === published,
    );
    reader.close();
  });

  test('ends when its key is revoked, and so does a waiting request', async () => {
    const stream = await openSse(target, '/v1/events/feed');
    const waiting = read('wait=30');
    await service.db.pool.query('update api_keys set revoked_at = now() where account_id = $1', [
      target.accountUuid,
    ]);
    await stream.ended;
    expect((await waiting).status).toBe(401);
    expect((await read('')).status).toBe(401);
  });

  test('and waiting requests are limited per key, and free their place when they end', async () => {
    const streams = await Promise.all([1, 2, 3].map(() => openSse(target, '/v1/events/feed')));
    const refused = await openSse(target, '/v1/events/feed');
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([429, 'stream_limit_reached']);
    expect((await read('wait=1')).status).toBe(429);
    expect((await read('')).status).toBe(200);
    for (const stream of streams) stream.close();
    await until(
      async () => (await read('wait=1')).status,
      (status) => status === 200,
    );
    await publishMany(1);
    for (let n = 0; n < 5; n++) expect((await read('after=start&wait=1')).status).toBe(200);
  });
});

describe('what has been removed', () => {
  test('is answered with 410 and the oldest place, never skipped', async () => {
    const early = (await read('after=start')).json.cursor;
    await publishMany(3);
    const middle = (await read('after=start&limit=2')).json.cursor;
    const last = (await read('after=start')).json.cursor;
    service.clock.advance(31 * day);
    const young = await publishMany(1);
    await removeOld(service);
    for (const cursor of [early, middle]) {
      const { status, json } = await read(`after=${cursor}`);
      expect([status, json.error.code, json.error.param]).toEqual([410, 'cursor_expired', 'after']);
      expect(idsOf(await read(`after=${json.error.cursor}`))).toEqual(young);
    }
    // More often than a key may have streams.
    for (let n = 0; n < 4; n++)
      expect((await openSse(target, `/v1/events/feed?after=${early}`)).status).toBe(410);
    const stream = await openSse(target, '/v1/events/feed');
    expect(stream.status).toBe(200);
    stream.close();
    // Nothing after these places was removed.
    expect(idsOf(await read(`after=${last}`))).toEqual(young);
    expect(idsOf(await read('after=start'))).toEqual(young);
  });
});

test('at shutdown, streams end cleanly and waiting requests are answered at once', async () => {
  let isStopping = false;
  const closing = await startService({ isStopping: () => isStopping });
  closing.startSequencer();
  const stream = await openSse(closing, '/v1/events/feed');
  const waiting = call(closing, 'GET', '/v1/events/feed?wait=30');
  await until(
    async () => stream.lastId(),
    (id) => id !== '',
  );
  const startedMs = performance.now();
  isStopping = true;
  await closing.stop();
  await stream.ended;
  expect((await waiting).json).toMatchObject({ data: [], caught_up: true });
  expect(performance.now() - startedMs).toBeLessThan(20_000);
});

test('a stream whose client leaves while it is opened takes no place in the limit', async () => {
  const small = await startService({ streamsPerKey: 1 });
  const holder = await small.db.pool.connect();
  await holder.query('begin; lock table event_feed_heads');
  const { socket } = await openConnection(small.url);
  const accept = { Authorization: `Bearer ${small.key}`, Accept: 'text/event-stream' };
  socket.write(head('GET', '/v1/events/feed', accept));
  await untilLockIsAwaited(small);
  socket.destroy();
  await until(
    async () => small.logLines.filter((line) => line.includes('499')).length,
    (count) => count === 1,
  );
  await holder.query('commit');
  holder.release();
  await until(
    async () => {
      const stream = await openSse(small, '/v1/events/feed');
      stream.close();
      return stream.status;
    },
    (status) => status === 200,
  );
  await small.stop();
});

test('a stream that is being opened at shutdown ends too', async () => {
  const closing = await startService();
  const holder = await closing.db.pool.connect();
  await holder.query('begin; lock table event_feed_heads');
  const opening = openSse(closing, '/v1/events/feed');
  await untilLockIsAwaited(closing);
  const stopped = closing.stop();
  await until(
    () =>
      fetch(`${closing.url}/livez`).then(
        () => 'accepts connections',
        () => 'closed',
      ),
    (state) => state === 'closed',
  );
  await holder.query('commit');
  holder.release();
  const stream = await opening;
  expect(stream.status).toBe(200);
  await stream.ended;
  await stopped;
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { emit } from '../../src/notify/events/emit.ts';
import { newEvent } from '../../src/notify/events/new-event.ts';
import { readEvents } from '../../src/notify/feed/sql/read.ts';
import { call } from '../support/client.ts';
import { removeOld } from '../support/remove-old.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let target: { url: string; key: string; accountUuid: string };
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  target = { url: service.url, ...(await service.createAccount('Reader')) };
});

const send = async (): Promise<string> =>
  (await call(target, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } })).json.id;

/** Also gives the event its position. */
async function publish(): Promise<string> {
  const id = await send();
  await sequenceEvents(service);
  return id;
}

const read = async (query: string) => (await call(target, 'GET', `/v1/events/feed?${query}`)).json;

/** Publishes an event after each statement that `work` sends about the feed. Returns their ids with the result. */
async function withEventsBetween<T>(work: () => Promise<T>): Promise<{ result: T; published: string[] }> {
  const { db } = service.service;
  const { query } = db;
  const published: string[] = [];
  let isPublishing = false;
  db.query = async (statement, values) => {
    const rows = await query<object>(statement, values);
    if (!isPublishing && /^(feed|consumer)_/.test(statement.name)) {
      isPublishing = true;
      published.push(await publish());
      isPublishing = false;
    }
    return rows as never[];
  };
  try {
    return { result: await work(), published };
  } finally {
    db.query = query;
  }
}

/** The ids of a page and of all that follow it. */
async function readOn(first: { data: { id: string }[]; cursor: string }): Promise<string[]> {
  const ids: string[] = [];
  for (let page = first; ; page = await read(`after=${page.cursor}`)) {
    ids.push(...page.data.map(({ id }) => id));
    if (page !== first && page.data.length === 0) return ids;
  }
}

const second = () => Math.floor(service.clock.nowMs() / 1_000);

const ways: [string, () => Promise<{ query: string; before: string[] }>][] = [
  ['start, in an empty feed', async () => ({ query: 'after=start', before: [] })],
  ['start', async () => ({ before: [await publish(), await publish()], query: 'after=start' })],
  ['now, in an empty feed', async () => ({ query: 'after=now', before: [] })],
  [
    'now',
    async () => {
      await publish();
      return { query: 'after=now', before: [] };
    },
  ],
  ['a time, in an empty feed', async () => ({ query: `since=${second()}`, before: [] })],
  [
    'a time after the last event',
    async () => {
      await publish();
      service.clock.advance(10_000);
      return { query: `since=${second()}`, before: [] };
    },
  ],
  [
    'a time between two events',
    async () => {
      await publish();
      service.clock.advance(10_000);
      return { query: `since=${second()}`, before: [await publish()] };
    },
  ],
  [
    'a cursor',
    async () => {
      await publish();
      const { cursor } = await read('after=now');
      return { query: `after=${cursor}`, before: [await publish()] };
    },
  ],
  [
    'a consumer',
    async () => {
      await publish();
      await call(target, 'PUT', '/v1/event_consumers/reader', { body: { after: 'now' } });
      return { query: 'consumer=reader', before: [await publish()] };
    },
  ],
];

test.each(ways)(
  'a reader that begins at %s misses no event and gets none twice, whenever it is published',
  async (_, prepare) => {
    const { query, before } = await prepare();
    const { result, published } = await withEventsBetween(() => read(query));
    expect(published.length).toBeGreaterThan(0);
    expect(await readOn(result)).toEqual([...before, ...published]);
  },
);

test('a page by cursor takes two statements: one for the place and the end, one for the events', async () => {
  await publish();
  const { cursor } = await read('after=start&limit=1');
  await publish();
  const { published } = await withEventsBetween(() => read(`after=${cursor}`));
  expect(published).toHaveLength(2);
});

test('a time from which events were removed begins at the oldest that is kept', async () => {
  await publish();
  service.clock.advance(10_000);
  const since = second();
  await publish();
  service.clock.advance(40 * 86_400_000);
  await removeOld(service);
  const kept = await publish();
  const { result, published } = await withEventsBetween(() => read(`since=${since}`));
  expect(await readOn(result)).toEqual([kept, ...published]);
});

test('a time between two events that got their positions together begins with the second', async () => {
  await send();
  service.clock.advance(10_000);
  const since = second();
  const ids = [await send(), await send()];
  await sequenceEvents(service);
  const { data } = await read(`since=${since}`);
  expect(data.map(({ id }: { id: string }) => id)).toEqual(ids);
  const bounds = { count: 1, maxBytes: 1_000_000, types: null };
  for (const after of [1, 2]) {
    const rows = await readEvents(service.db, target.accountUuid, { ...bounds, after });
    expect(rows.map(({ position }) => position)).toEqual([after, after + 1]);
  }
});

test('a time after an event that was committed late begins with what was there before it', async () => {
  const { accountUuid } = target;
  const late = newEvent(service.service, { accountUuid, type: 'esim.suspended', data: {} });
  service.clock.advance(10_000);
  const since = second();
  const early = await publish();
  await service.db.transaction((tx) => emit(tx, [late]));
  await sequenceEvents(service);
  const { data } = await read(`since=${since}`);
  expect(data.map(({ id }: { id: string }) => id)).toEqual([early, JSON.parse(late.body).id]);
});

test('a cursor among events that were removed is refused with the oldest place, also within a run that is kept', async () => {
  for (let n = 0; n < 3; n++) await send();
  await sequenceEvents(service);
  const { cursor } = await read('after=start&limit=1');
  service.clock.advance(40 * 86_400_000);
  await removeOld(service);
  const kept = await publish();
  const { status, json } = await call(target, 'GET', `/v1/events/feed?after=${cursor}`);
  expect([status, json.error?.code]).toEqual([410, 'cursor_expired']);
  expect(await readOn(await read(`after=${json.error.cursor}`))).toEqual([kept]);
});

test('no page leaves out events in its middle', async () => {
  await publish();
  await publish();
  await publish();
  const hole = 'delete from event_feed where account_id = $1 and first_position = 2';
  await service.db.pool.query(hole, [target.accountUuid]);
  const { status } = await call(target, 'GET', '/v1/events/feed?after=start');
  expect(status).toBeGreaterThanOrEqual(400);
});

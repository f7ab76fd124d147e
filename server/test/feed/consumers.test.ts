import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { lockAccount } from '../../src/accounts/lock-account.ts';
import { call } from '../support/client.ts';
import { removeOld } from '../support/remove-old.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let target: { url: string; key: string; accountUuid: string };

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  target = { url: service.url, ...(await service.createAccount('Consumer')) };
});

async function publish(count: number, type = 'a.b'): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    ids.push((await call(target, 'POST', '/v1/events/test', { body: { type, data: {} } })).json.id);
  }
  await sequenceEvents(service);
  return ids;
}

const path = '/v1/event_consumers/billing';
const put = (body: object = {}, name = 'billing') =>
  call(target, 'PUT', `/v1/event_consumers/${name}`, { body });
const get = async () => (await call(target, 'GET', path)).json;
const ack = (cursor: string) => call(target, 'POST', `${path}/ack`, { body: { cursor } });
const seek = (after: string) => call(target, 'POST', `${path}/seek`, { body: { after } });
const read = (limit = 100) => call(target, 'GET', `/v1/events/feed?consumer=billing&limit=${limit}`);
const idsOf = ({ json }: { json: { data: { id: string }[] } }) => json.data.map(({ id }) => id);

test('a consumer reads from its place until it acknowledges, and then from there', async () => {
  await put({ after: 'start' });
  const ids = await publish(3);
  const first = await read(2);
  expect(idsOf(first)).toEqual(ids.slice(0, 2));
  expect(idsOf(await read(2))).toEqual(ids.slice(0, 2));
  const acknowledged = await ack(first.json.cursor);
  expect(acknowledged.json).toMatchObject({ cursor: first.json.cursor, behind: 1 });
  expect(idsOf(await read())).toEqual(ids.slice(2));
});

test('creating it again returns it unchanged, and a new one begins at the end by default', async () => {
  await publish(2);
  const created = await put();
  expect(created.status).toBe(200);
  expect(created.json).toMatchObject({ name: 'billing', object: 'event_consumer', type: null, behind: 0 });
  await publish(1);
  const again = await put({ after: 'start', type: ['esim.*'] });
  expect(again.json).toEqual({ ...created.json, behind: 1, oldest_unacknowledged_at: expect.any(Number) });
});

test('it shows how far behind it is, and when its first open event was created', async () => {
  await put();
  expect(await get()).toMatchObject({ behind: 0, oldest_unacknowledged_at: null });
  service.clock.advance(5_000);
  const [id] = await publish(2);
  const { created } = (await call(target, 'GET', `/v1/events/${id}`)).json;
  expect(await get()).toMatchObject({ behind: 2, oldest_unacknowledged_at: created });
});

test('an acknowledgement never moves it back: a second program gets 409 and its place', async () => {
  await put({ after: 'start' });
  await publish(3);
  const early = (await read(1)).json.cursor;
  const late = (await read(3)).json.cursor;
  expect((await ack(late)).status).toBe(200);
  expect((await ack(late)).status).toBe(200);
  const behind = await ack(early);
  expect([behind.status, behind.json.error.code, behind.json.error.cursor]).toEqual([
    409,
    'cursor_behind',
    late,
  ]);
  expect((await get()).cursor).toBe(late);
});

test('two acknowledgements at once leave it at the later one', async () => {
  await put({ after: 'start' });
  await publish(8);
  const cursors = await Promise.all([1, 3, 5, 8].map(async (limit) => (await read(limit)).json.cursor));
  await Promise.all([...cursors].reverse().map(ack));
  expect((await get()).cursor).toBe(cursors.at(-1));
});

test('a seek moves it anywhere', async () => {
  await put();
  const ids = await publish(3);
  const end = (await read()).json.cursor;
  expect((await ack(end)).status).toBe(200);
  expect((await seek('start')).json.behind).toBe(3);
  expect(idsOf(await read())).toEqual(ids);
  expect((await seek(end)).json.behind).toBe(0);
});

test('it keeps its types', async () => {
  await put({ after: 'start', type: ['esim.*'] });
  await publish(2);
  const wanted = await publish(1, 'esim.test');
  expect(idsOf(await read())).toEqual(wanted);
  expect(await get()).toMatchObject({ type: ['esim.*'], behind: 3 });
});

test('one whose place has expired gets 410 until it seeks', async () => {
  await put({ after: 'start' });
  await publish(2);
  service.clock.advance(31 * 86_400_000);
  const young = await publish(1);
  await removeOld(service);
  const { status, json } = await read();
  expect([status, json.error.code, json.error.param]).toEqual([410, 'cursor_expired', 'consumer']);
  const headers = { Accept: 'text/event-stream' };
  expect((await call(target, 'GET', '/v1/events/feed?consumer=billing', { headers })).status).toBe(410);
  expect((await seek(json.error.cursor)).status).toBe(200);
  expect(idsOf(await read())).toEqual(young);
});

test('they are listed by name, page by page, and deleted', async () => {
  for (const name of ['b', 'a', 'c']) await put({}, name);
  const page = (await call(target, 'GET', '/v1/event_consumers?limit=2')).json;
  expect(page.data.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
  const rest = await call(target, 'GET', `/v1/event_consumers?limit=2&starting_after=${page.next_cursor}`);
  expect(rest.json.data.map(({ name }: { name: string }) => name)).toEqual(['c']);
  expect((await call(target, 'DELETE', '/v1/event_consumers/a')).json).toMatchObject({ deleted: true });
  for (const method of ['GET', 'DELETE']) {
    expect((await call(target, method, '/v1/event_consumers/a')).status).toBe(404);
  }
  const missing = await call(target, 'GET', '/v1/events/feed?consumer=a');
  expect([missing.status, missing.json.error.param]).toEqual([404, 'consumer']);
});

test('one that is created twice at once is one, also if it is the last that there is room for', async () => {
  await service.db.pool.query(
    `insert into event_consumers (account_id, name, position, mark, created_at)
     select $1, 'other-' || n, 0, 0, now() from generate_series(1, 99) n`,
    [target.accountUuid],
  );
  const creating = await service.db.transaction(async (tx) => {
    await lockAccount(tx, target.accountUuid);
    const both = [put(), put()];
    await untilLockIsAwaited(service, 2);
    return both;
  });
  const [one, other] = await Promise.all(creating);
  expect([one?.status, other?.status]).toEqual([200, 200]);
  expect(other?.json).toEqual(one?.json);
});

test('an account can have 100 of them', async () => {
  await Promise.all(Array.from({ length: 100 }, (_, i) => put({}, `c${i}`)));
  const { status, json } = await put({}, 'one-more');
  expect([status, json.error.code]).toEqual([409, 'consumer_limit_reached']);
  expect((await put({}, 'c7')).status).toBe(200);
});

test.each(['-a', 'a b', 'ä', 'x'.repeat(101)])('refuses the name %s', async (name) => {
  const { status, json } = await put({}, encodeURIComponent(name));
  expect([status, json.error.param]).toEqual([400, 'name']);
});

test('one that does not exist is named as missing, whatever is sent to it', async () => {
  await publish(1);
  const { cursor } = (await call(target, 'GET', '/v1/events/feed?after=start')).json;
  for (const reply of [await ack(cursor), await ack('no cursor'), await seek(cursor), await seek('start')]) {
    expect([reply.status, reply.json.error.code, reply.json.error.param]).toEqual([
      404,
      'resource_missing',
      'name',
    ]);
  }
});

test('one whose place the feed has not reached again after a restore is not behind', async () => {
  await publish(1);
  await put();
  await service.db.pool.query('update event_consumers set position = 5 where account_id = $1', [
    target.accountUuid,
  ]);
  expect(await get()).toMatchObject({ behind: 0, oldest_unacknowledged_at: null });
});

test('another account sees nothing of it', async () => {
  await put();
  const other = { url: service.url, ...(await service.createAccount('Other')) };
  expect((await call(other, 'GET', path)).status).toBe(404);
  expect((await call(other, 'GET', '/v1/event_consumers')).json.data).toEqual([]);
});

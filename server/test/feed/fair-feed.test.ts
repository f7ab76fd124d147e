import { afterEach, describe, expect, test } from 'vitest';
import { readAfter } from '../../src/notify/feed/read-page.ts';
import { call, type Reply } from '../support/client.ts';
import { head, openConnection } from '../support/raw-http.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { openSse, type SseReader } from '../support/sse.ts';

let service: TestService;
let streams: SseReader[] = [];
afterEach(async () => {
  for (const stream of streams) stream.close();
  streams = [];
  await service.stop();
});

async function openStream(key: string, headers: Record<string, string> = {}): Promise<number> {
  const stream = await openSse({ url: service.url, key }, '/v1/events/feed', headers);
  streams.push(stream);
  return stream.status;
}

/** Resolves when the service next runs a statement with this name. */
function statementOf({ db }: TestService, name: string): Promise<void> {
  const { query } = db;
  return new Promise((resolve) => {
    db.query = (statement, values) => {
      if (statement.name === name) resolve();
      return query(statement, values);
    };
  });
}

describe('streams of one account', () => {
  test('take at most a tenth, with any number of keys, so that others and the operator get theirs', async () => {
    service = await startService({ streamsTotal: 100 });
    const attacker = await service.createAccount('Attacker');
    const keys = [attacker.key];
    while (keys.length < 10) keys.push(await service.createKey({ accountUuid: attacker.accountUuid }));
    const statuses: number[] = [];
    for (const key of keys) for (let i = 0; i < 12; i++) statuses.push(await openStream(key));
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(110);

    const honest = await service.createAccount('Honest');
    for (let i = 0; i < 10; i++) expect(await openStream(honest.key)).toBe(200);
    const operator = await service.createKey({ scopes: ['operator'] });
    const { json } = await call({ url: service.url, key: attacker.key }, 'GET', '/v1/me');
    for (let i = 0; i < 10; i++)
      expect(await openStream(operator, { 'Service-Account': json.account.id })).toBe(200);
  });

  test('and its waiting requests count together', async () => {
    service = await startService({ streamsTotal: 30 });
    const other = await service.createKey({});
    for (let i = 0; i < 2; i++) expect(await openStream(service.key)).toBe(200);
    // It counts before it looks for its place in the feed.
    const arrived = statementOf(service, 'feed_locate');
    const leave = new AbortController();
    const waiting = fetch(`${service.url}/v1/events/feed?wait=30`, {
      headers: { Authorization: `Bearer ${other}` },
      signal: leave.signal,
    });
    await arrived;
    expect(await openStream(service.key)).toBe(429);
    leave.abort();
    await expect(waiting).rejects.toThrow();
  });
});

async function insertEvents(accountUuid: string, count: number, bytes = 1_000): Promise<void> {
  await service.db.pool.query(
    `insert into events (account_id, id, type, created_at, body)
     select $1, gen_random_uuid(), 'a.b', now(), json_build_object('id', n, 'text', repeat('x', $3::integer))::text
     from generate_series(1, $2::integer) n`,
    [accountUuid, count, bytes],
  );
  await sequenceEvents(service);
}

describe('feed readers of one account', () => {
  test('whose types hide everything do not delay another account’s reader', async () => {
    service = await startService();
    await insertEvents(service.accountUuid, 2_000);
    const honest = { url: service.url, ...(await service.createAccount('Honest')) };
    await insertEvents(honest.accountUuid, 10);
    let doneCount = 0;
    const attack = Array.from({ length: 100 }, async () => {
      const reply = await call(service, 'GET', '/v1/events/feed?after=start&type=never.*');
      doneCount += 1;
      return reply;
    });
    await expect.poll(() => doneCount).toBeGreaterThan(0);
    for (let i = 0; i < 5; i++) {
      const { status, json } = await call(honest, 'GET', '/v1/events/feed?after=start');
      expect([status, json.data.length]).toEqual([200, 10]);
    }
    // Waiting for their turn, the honest reads would take as long as all of these.
    expect(doneCount).toBeLessThan(60);
    for (const { status, json } of await Promise.all(attack)) {
      // On a busy machine the last ones wait too long for their turn.
      if (status === 200) expect([json.data, json.caught_up]).toEqual([[], true]);
      else expect([status, json.error.code]).toEqual([429, 'rate_limited']);
    }
  });

  test('do not hold up the read of another account in their queue', async () => {
    service = await startService();
    const honest = { url: service.url, ...(await service.createAccount('Honest')) };
    for (const { accountUuid } of [service, honest]) await insertEvents(accountUuid, 1);
    const locker = await service.db.pool.connect();
    // On another connection: within a transaction, PostgreSQL shows only the sessions that it saw when first asked.
    const lockWaits = async () => {
      const { rows } = await service.db.pool.query(
        `select count(*)::integer as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0].count;
    };
    await locker.query('begin');
    await locker.query('lock table events in access exclusive mode');
    const attack = Array.from({ length: 10 }, () => call(service, 'GET', '/v1/events/feed?after=start'));
    let read: Promise<Reply>;
    try {
      await expect.poll(lockWaits).toBeGreaterThanOrEqual(1);
      read = call(honest, 'GET', '/v1/events/feed?after=start');
      await expect.poll(lockWaits).toBeGreaterThanOrEqual(2);
      // By now the others have come, too: the account has one turn at a time.
      for (let i = 0; i < 10; i++) await call(service, 'GET', '/v1/me');
      expect(await lockWaits()).toBe(2);
    } finally {
      await locker.query('commit');
      locker.release();
    }
    for (const { status } of await Promise.all([read, ...attack])) expect(status).toBe(200);
  });

  test('whose types hide an event pass it by without reading its body', async () => {
    service = await startService();
    await insertEvents(service.accountUuid, 3);
    const feed = { db: service.db, account: { id: 'acct_1', uuid: service.accountUuid }, cell: null };
    const bounds = { count: 10, maxBytes: 1_000_000 };
    const hidden = await readAfter(feed, { position: 0, mark: 0 }, bounds, ['never.*']);
    expect(hidden?.map(({ position, body }) => [position, body])).toEqual([
      [1, ''],
      [2, ''],
      [3, ''],
    ]);
  });

  test('that wait for events hold no memory, so that the account can read on', async () => {
    service = await startService();
    const leave = new AbortController();
    const headers = { Authorization: `Bearer ${service.key}` };
    await insertEvents(service.accountUuid, 1);
    const path = '/v1/events/feed?after=start&type=never.*&wait=30';
    const waiting = Array.from({ length: 10 }, () =>
      fetch(service.url + path, { headers, signal: leave.signal }),
    );
    const ended = Promise.allSettled(waiting);
    for (let i = 0; i < 20; i++)
      expect((await call(service, 'GET', '/v1/events/feed?after=start')).status).toBe(200);
    leave.abort();
    await ended;
  });

  test('that do not read their stream are cut after the drain timeout', async () => {
    service = await startService({
      drainTimeoutMs: 2_000,
      streamsTotal: 100,
      streamBeatMs: 100,
    });
    await insertEvents(service.accountUuid, 40, 500_000);
    const { socket } = await openConnection(service.url);
    socket.pause();
    const headers = { Authorization: `Bearer ${service.key}`, Accept: 'text/event-stream' };
    socket.write(head('GET', '/v1/events/feed?after=start', headers));
    const cuts = async () => (await service.service.metrics.connectionsCut.get()).values;
    await expect.poll(cuts).toMatchObject([{ labels: { reason: 'unread' }, value: 1 }]);
    socket.destroy();
  });

  test('get the bodies of their own types only, from a page and from a stream', async () => {
    service = await startService();
    for (const type of ['a.b', 'c.d', 'c.e', 'a.c']) {
      await call(service, 'POST', '/v1/events/test', { body: { type, data: { of: type } } });
    }
    await sequenceEvents(service);
    const { json } = await call(service, 'GET', '/v1/events/feed?after=start&type=c.*&type=a.c');
    expect(json.data.map((event: { data: object }) => event.data)).toEqual([
      { of: 'c.d' },
      { of: 'c.e' },
      { of: 'a.c' },
    ]);
    const stream = await openSse(service, '/v1/events/feed?after=start&type=c.*&type=a.c');
    streams.push(stream);
    await expect.poll(() => stream.messages.length).toBe(3);
    expect(stream.messages.map(({ data }) => JSON.parse(data).data)).toEqual([
      { of: 'c.d' },
      { of: 'c.e' },
      { of: 'a.c' },
    ]);
  });
});

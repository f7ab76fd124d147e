import { errors, type RequestLogEntry } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import {
  createRequestLog,
  type RequestLine,
  type RequestLogLevel,
} from '../../src/views/request-log/buffer.ts';
import { insertLines } from '../../src/views/request-log/sql.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { exchange, head } from '../support/raw-http.ts';
import { removeOld } from '../support/remove-old.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ requestLogLevel: 'all' });
});
afterAll(() => service.stop());

const idOf = (reply: Reply) => reply.headers.get('request-id') as string;

/** Waits until the batch with the request has been written. */
async function logged(reply: Reply, key = service.key): Promise<RequestLogEntry> {
  const found = await until(
    () => call(service, 'GET', `/v1/requests/${idOf(reply)}`, { key }),
    ({ status }) => status === 200,
  );
  return found.json;
}

async function list(query: string, key = service.key): Promise<RequestLogEntry[]> {
  const reply = await call(service, 'GET', `/v1/requests?${query}`, { key });
  expect([reply.status, query]).toEqual([200, query]);
  return reply.json.data;
}

describe('the request log', () => {
  test('finds a failed request by its Request-Id, with the error and its remedy', async () => {
    const reply = await provision(service, undefined, {});
    expect(await logged(reply)).toEqual({
      id: idOf(reply),
      object: 'request',
      method: 'POST',
      path: '/v1/esims',
      operation: 'createEsim',
      via: 'api',
      status: 400,
      error: {
        code: 'parameter_missing',
        message: reply.json.error.message,
        param: 'product_id',
        remedy: errors.parameter_missing.remedy,
      },
      duration_ms: expect.any(Number),
      api_key: { id: expect.stringMatching(/^key_/), name: 'Test', last4: service.key.slice(-4) },
      idempotency: null,
      created_ids: [],
      ip: '127.0.0.1',
      created: expect.any(Number),
    });
  });

  test('names what a request created, and what its Idempotency-Key did', async () => {
    const order = await provision(service, 'one');
    const replay = await provision(service, 'one');
    const reused = await provision(service, 'one', { product_id: 'prod_none' });
    expect(await logged(order)).toMatchObject({ idempotency: 'fresh', created_ids: [order.json.id] });
    expect(await logged(replay)).toMatchObject({ status: 202, idempotency: 'replayed', created_ids: [] });
    expect(await logged(reused)).toMatchObject({
      idempotency: 'refused',
      error: { code: 'idempotency_key_reused', remedy: errors.idempotency_key_reused.remedy },
    });
    const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['a.b'] };
    const endpoint = await call(service, 'POST', '/v1/webhook_endpoints', { body });
    expect(await logged(endpoint)).toMatchObject({ created_ids: [endpoint.json.id], idempotency: null });
    const path = `/v1/webhook_endpoints/${endpoint.json.id}`;
    expect(await logged(await call(service, 'PATCH', path, { body: {} }))).toMatchObject({
      path,
      created_ids: [],
    });
    const event = await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
    const again = await call(service, 'POST', `/v1/events/${event.json.id}/replay`, { body: {} });
    expect((await logged(again)).created_ids).toEqual([again.json.deliveries[0].id]);
    const both = { event_ids: [event.json.id, event.json.id] };
    const replayed = await call(service, 'POST', '/v1/events/replay', { body: both });
    const queued = replayed.json.data.flatMap((one: { deliveries: string[] }) => one.deliveries);
    expect(queued.length).toBeGreaterThan(0);
    expect((await logged(replayed)).created_ids).toEqual(queued);
  });

  test('names twenty of the deliveries that a request created, however many they are', async () => {
    const { key } = await service.createAccount('Replays');
    const target = { url: service.url, key };
    const endpoint = { url: 'http://127.0.0.1:9/', enabled_event_types: ['a.b'] };
    const create = () => call(target, 'POST', '/v1/webhook_endpoints', { body: endpoint });
    await Promise.all(Array.from({ length: 22 }, create));
    const event = await call(target, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
    const replayed = await call(target, 'POST', `/v1/events/${event.json.id}/replay`, { body: {} });
    const ids = replayed.json.deliveries.map(({ id }: { id: string }) => id);
    expect(ids).toHaveLength(22);
    expect((await logged(replayed, key)).created_ids).toEqual(ids.slice(0, 20));
  });

  test('shows an error that a newer release wrote, whose code this one does not know', async () => {
    const refused = await call(service, 'GET', '/v1/products/none');
    const { id } = await logged(refused);
    await service.db.pool.query(`update request_log set error_code = 'of_tomorrow' where id = $1`, [
      uuidOfId('req', id),
    ]);
    const { status, json } = await call(service, 'GET', `/v1/requests/${id}`);
    expect([status, json.error]).toEqual([
      200,
      { code: 'of_tomorrow', message: refused.json.error.message, param: 'id', remedy: '' },
    ]);
  });

  test.each(['enable', 'probe'])(
    'has the error of a refusal that was stored and replayed: %s',
    async (verb) => {
      const path = `/v1/webhook_endpoints/we_00000000000000000000000000/${verb}`;
      for (const idempotency of ['fresh', 'replayed']) {
        const refused = await call(service, 'POST', path, { body: {}, idempotencyKey: `missing ${verb}` });
        expect(await logged(refused)).toMatchObject({
          ...{ status: 404, idempotency },
          error: { code: 'resource_missing', param: 'id' },
        });
      }
    },
  );

  test('has requests that a known key was refused, and none of unknown keys and operators', async () => {
    const key = await service.createKey({ scopes: ['read'] });
    const refused = await provision({ ...service, key });
    expect(await logged(refused)).toMatchObject({ status: 403, error: { code: 'scope_missing' } });
    const operatorKey = await service.createKey({ scopes: ['operator'] });
    await call(service, 'GET', '/v1/me', { key: operatorKey });
    await call(service, 'GET', '/v1/me', { key: null });
    const last = await call(service, 'GET', '/v1/me');
    await logged(last);
    const [before, ...rest] = (await list('operation=getMe')).map(({ id }) => id);
    expect([before, rest]).toEqual([idOf(last), []]);
  });

  test('shows an account only its own requests', async () => {
    const other = await service.createAccount('Other');
    const own = await call(service, 'GET', '/v1/products');
    const others = await call(service, 'GET', '/v1/products', { key: other.key });
    await Promise.all([logged(own), logged(others, other.key)]);
    const stolen = await call(service, 'GET', `/v1/requests/${idOf(own)}`, { key: other.key });
    expect([stolen.status, stolen.json.error.code]).toEqual([404, 'resource_missing']);
    expect((await list('operation=listProducts', other.key)).map(({ id }) => id)).toEqual([idOf(others)]);
  });

  test('lists by status, class, error, operation and time, in pages', async () => {
    const { key } = await service.createAccount('Listed');
    const get = (path: string) => call(service, 'GET', path, { key });
    const sent: [Reply, operation: string][] = [];
    for (let n = 0; n < 4; n++) {
      sent.push([await get('/v1/products'), 'listProducts']);
      sent.push([await get('/v1/products?limit=0'), 'listProducts']);
      sent.push([await get('/v1/products/none'), 'getProduct']);
    }
    await logged((sent.at(-1) as [Reply, string])[0], key);
    const idsOf = (keep: (reply: Reply, operation: string) => boolean) =>
      sent
        .filter(([reply, operation]) => keep(reply, operation))
        .map(([reply]) => idOf(reply))
        .reverse();
    for (const [query, keep] of [
      ['status=4xx', ({ status }) => status >= 400],
      ['status=404', ({ status }) => status === 404],
      ['status=2xx&operation=listProducts', ({ status }) => status === 200],
      ['status=5xx', () => false],
      ['status=401', () => false],
      ['status=418', () => false],
      ['error_code=parameter_missing', () => false],
      ['error_code=cursor_invalid', () => false],
      ['error_code=parameter_invalid', ({ status }) => status === 400],
      ['error_code=parameter_invalid&status=4xx', ({ status }) => status === 400],
      ['error_code=parameter_invalid&status=404', () => false],
      ['error_code=resource_missing&operation=getProduct', ({ status }) => status === 404],
      ['error_code=resource_missing&operation=listProducts', () => false],
      ['operation=listProducts&status=400', ({ status }) => status === 400],
      ['operation=listProducts', (_, operation) => operation === 'listProducts'],
      ['operation=listProducts&created[gte]=1700000000', (_, operation) => operation === 'listProducts'],
      ['operation=listProducts&created[lt]=1700000000', () => false],
      ['operation=listProducts&created[gte]=4000000000', () => false],
      ['error_code=resource_missing&created[gte]=4000000000', () => false],
      ['created[gte]=4000000000', () => false],
    ] as [string, Parameters<typeof idsOf>[0]][]) {
      const found = await walk(`/v1/requests?limit=2&${query}`, key);
      expect([query, found]).toEqual([query, idsOf(keep)]);
    }
    for (const operation of ['orderEsim', 'constructor']) {
      const wrong = await get(`/v1/requests?operation=${operation}`);
      expect([wrong.status, wrong.json.error.param]).toEqual([400, 'operation']);
    }
  });

  test('tells the requests of the dashboard and of agents from those of the API, and lists each alone', async () => {
    const { key } = await service.createAccount('Ways');
    const direct = await call(service, 'GET', '/v1/products', { key });
    const session = await fetch(`${service.url}/dashboard/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: service.url },
      body: JSON.stringify({ api_key: key }),
    });
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await fetch(`${service.url}/dashboard/api/v1/products`, { headers: { cookie } });
    const agent = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'list_products', arguments: {} },
      }),
    });
    expect([page.status, agent.status]).toEqual([200, 200]);
    await agent.text();
    const pageId = page.headers.get('request-id');
    const [inPage, inAgent] = await Promise.all([
      until(
        () => list('via=dashboard&operation=listProducts', key),
        ({ length }) => length === 1,
      ),
      until(
        () => list('via=agent&operation=listProducts', key),
        ({ length }) => length === 1,
      ),
    ]);
    expect(inPage).toMatchObject([
      { id: pageId, via: 'dashboard', operation: 'listProducts', path: '/v1/products' },
    ]);
    expect(inAgent).toMatchObject([{ via: 'agent', operation: 'listProducts' }]);
    expect((await list('via=api&operation=listProducts', key)).map(({ id }) => id)).toEqual([idOf(direct)]);
    expect(await list('operation=listProducts', key)).toHaveLength(3);
    expect((await list('via=agent', key)).map(({ path }) => path)).toContain('/mcp');
    expect((await list('via=api&status=2xx', key)).every(({ via }) => via === 'api')).toBe(true);
  });

  async function walk(path: string, key: string): Promise<string[]> {
    const { json } = await call(service, 'GET', path, { key });
    // Without the requests that this test reads the log with.
    const others = json.data.filter(({ path }: RequestLogEntry) => !path.startsWith('/v1/requests'));
    const ids = others.map(({ id }: RequestLogEntry) => id);
    const next = `${path.replace(/&starting_after=.*/, '')}&starting_after=${json.next_cursor}`;
    return json.has_more ? [...ids, ...(await walk(next, key))] : ids;
  }

  test('has no body, query or secret, whatever the request contains', async () => {
    const { key } = await service.createAccount('Leaky');
    const secret = 'K7QX-9ZPL-MATCHING';
    const code = `LPA:1$smdp.example.com$${secret}`;
    const post = (body: object) => call(service, 'POST', '/v1/esims', { key, body });
    const replies: Reply[] = [
      await post({ product_id: secret }),
      await post({ product_id: `a"b"${secret}` }),
      await post({ product_id: 7, [secret]: 1 }),
      await post({ [code]: 1 }),
      await post({ product_id: 'prod_europe_5gb_30d', metadata: { [secret]: 7 } }),
      await post({ product_id: 'prod_europe_5gb_30d', eid: secret }),
      await post({ product_id: 'prod_europe_5gb_30d', description: ['x', secret] }),
      await call(service, 'GET', `/v1/executions?status=${secret}`, { key }),
      await call(service, 'GET', `/v1/products/${secret}`, { key }),
      await call(service, 'GET', `/v1/esims/${encodeURIComponent(code)}/install?x=${secret}`, { key }),
      await call(service, 'GET', '/v1/me', { key, headers: { 'Service-Version': secret } }),
      await exchange(service.url, head('GET', `/v1/requests/${secret}`, { Authorization: `Bearer ${key}` })),
    ];
    await logged(replies.at(-1) as Reply, key);
    const lines = await list('limit=100', key);
    const ids = lines.map(({ id }) => id);
    for (const reply of replies.filter(({ status }) => status >= 400)) expect(ids).toContain(idOf(reply));
    expect(lines.filter(({ error }) => error).length).toBeGreaterThan(8);
    expect(JSON.stringify(lines)).not.toContain(secret);
    expect(JSON.stringify(lines)).not.toContain(key);
    expect(lines.find(({ id }) => id === idOf(replies[2] as Reply))?.error).toMatchObject({
      param: '*',
      message: expect.stringMatching(/^\* is not a parameter; this operation takes product_id,/),
    });
  });

  test('keeps requests for seven days', async () => {
    const { key } = await service.createAccount('Old');
    const old = await call(service, 'GET', '/v1/me', { key });
    await logged(old, key);
    service.clock.advance(6 * 86_400_000);
    const young = await call(service, 'GET', '/v1/me', { key });
    await logged(young, key);
    service.clock.advance(2 * 86_400_000);
    expect(await removeOld(service)).toBeGreaterThan(0);
    expect((await list('operation=getMe', key)).map(({ id }) => id)).toEqual([idOf(young)]);
  });
});

describe('a level', () => {
  test.each<[RequestLogLevel, string[]]>([
    ['off', []],
    ['errors', ['getProduct', 'createEsim']],
    ['writes', ['getProduct', 'createEsim', 'createEsim']],
    ['all', ['getMe', 'getProduct', 'createEsim', 'createEsim']],
  ])('%s logs %j of a read, a failed read, an order and a failed order', async (level, expected) => {
    const other = await startService({ databaseUrl: service.databaseUrl, requestLogLevel: level });
    try {
      await call(other, 'GET', '/v1/me');
      await call(other, 'GET', '/v1/products/none');
      await provision(other);
      await provision(other, undefined, {});
    } finally {
      await other.stop(); // writes what waits
    }
    const lines = await list('limit=100', other.key);
    const own = lines.filter(({ operation }) => operation !== 'listRequests').reverse();
    expect(own.map(({ operation }) => operation)).toEqual(expected);
  });
});

describe('under pressure', () => {
  const line = (): RequestLine => ({
    accountUuid: service.accountUuid,
    id: `req_${'0'.repeat(26)}`,
    apiKeyUuid: service.accountUuid,
    method: 'GET',
    path: '/v1/me',
    operation: 'getMe',
    via: 'api',
    status: 200,
    error: null,
    durationMs: 1,
    idempotency: null,
    createdIds: [],
    ip: null,
  });

  type Db = Parameters<typeof createRequestLog>[0]['db'];

  function logTo(db: object) {
    const counts = { dropped: 0, failed: 0 };
    const log = createRequestLog({
      db: db as Db,
      level: 'all',
      onDropped(count) {
        counts.dropped += count;
      },
      onError() {
        counts.failed += 1;
      },
    });
    const addAll = (count: number, one: RequestLine) => {
      for (let n = 0; n < count; n++) if (log.hasRoom(one.status)) log.add(one);
    };
    return { log, counts, addAll };
  }

  test('lines are dropped and counted while the database does not answer, and one statement is in flight', async () => {
    let statements = 0;
    const { log, counts, addAll } = logTo({
      pool: { waitingCount: 0 },
      query() {
        statements += 1;
        return new Promise(() => {});
      },
    });
    addAll(20_000, line());
    expect(counts.dropped).toBe(20_000 - 1_500);
    addAll(20_000, { ...line(), status: 404 });
    expect(counts.dropped).toBe(40_000 - 5_000);
    await until(
      async () => statements,
      (count) => count > 0,
    );
    addAll(20_000, { ...line(), status: 404 });
    await log.stop(10);
    // The 500 of the statement may have been written.
    expect([statements, counts.dropped]).toEqual([1, 60_000 - 500]);
  });

  test('long errors are dropped by their size', () => {
    const { counts, addAll } = logTo({ pool: { waitingCount: 0 }, query: () => new Promise(() => {}) });
    const error = { code: 'internal' as const, message: 'x'.repeat(10_000), param: undefined };
    addAll(2_000, { ...line(), status: 500, error });
    expect(counts.dropped).toBeGreaterThan(1_000);
  });

  test('long errors that were written make room for others', async () => {
    const { log, counts, addAll } = logTo({ pool: { waitingCount: 0 }, query: async () => [] });
    const error = { code: 'internal' as const, message: 'x'.repeat(10_000), param: undefined };
    for (let round = 0; round < 3; round++) {
      addAll(300, { ...line(), status: 500, error });
      await log.stop(60_000);
    }
    expect(counts.dropped).toBe(0);
  });

  test('a stream that was open for a month is written, and the lines beside it', async () => {
    const { log, counts } = logTo(service.db);
    const ids = ['1', '2'].map((end) => `req_${'0'.repeat(25)}${end}`);
    for (const [n, id] of ids.entries()) log.add({ ...line(), id, durationMs: n === 0 ? 5 : 2 ** 31 + 7 });
    await log.stop(60_000);
    expect(counts).toEqual({ dropped: 0, failed: 0 });
    const { rows } = await service.db.pool.query(
      `select duration_ms from request_log where account_id = $1 and id < $2 order by id`,
      [service.accountUuid, '00000000-0000-0000-0000-0000000000ff'],
    );
    expect(rows).toEqual([{ duration_ms: 5 }, { duration_ms: 2 ** 31 - 1 }]);
  });

  test('a connection that wrote lines without waiting for the disk waits for it again, as an order must', async () => {
    const onError = (error: Error) => expect.fail(String(error));
    const db = openDatabase({ connectionString: service.databaseUrl, poolSize: 1, onError });
    try {
      await db.pool.query('set synchronous_commit = on');
      await insertLines(db, [{ ...line(), id: `req_${'0'.repeat(25)}3` }]);
      const { rows } = await db.pool.query(`select current_setting('synchronous_commit') as setting`);
      expect(rows).toEqual([{ setting: 'on' }]);
    } finally {
      await db.end();
    }
  });

  test('a failed statement drops its lines, and the next are written', async () => {
    let isAway = true;
    let written = 0;
    const { log, counts } = logTo({
      pool: { waitingCount: 0 },
      query: async () => {
        if (isAway) throw new Error('away');
        written += 1;
      },
    });
    log.add(line());
    await until(
      async () => counts,
      ({ dropped, failed }) => dropped === 1 && failed === 1,
    );
    isAway = false;
    log.add(line());
    await until(
      async () => written,
      (count) => count === 1,
    );
    expect(counts).toEqual({ dropped: 1, failed: 1 });
  });

  test('nothing is written while requests wait for a connection', async () => {
    let written = 0;
    let [waiting, looks] = [3, 0];
    const pool = {
      get waitingCount() {
        looks += 1;
        return waiting;
      },
    };
    const { addAll } = logTo({
      pool,
      async query() {
        written += 1;
      },
    });
    addAll(1_000, line());
    await until(
      async () => looks,
      (count) => count >= 3,
    );
    expect(written).toBe(0);
    waiting = 0;
    await until(
      async () => written,
      (count) => count === 2,
    );
  });

  test('orders are accepted if the log cannot be written, and the metric counts the lines', async () => {
    await service.db.pool.query('alter table request_log rename to request_log_away');
    try {
      const { key } = await service.createAccount('Unlucky');
      const dropped = async () =>
        (await service.service.metrics.requestLogDropped.get()).values[0]?.value ?? 0;
      const before = await dropped();
      const replies = await Promise.all(Array.from({ length: 20 }, () => provision({ ...service, key })));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
      await until(dropped, (count) => count >= before + 20);
    } finally {
      await service.db.pool.query('alter table request_log_away rename to request_log');
    }
  });

  test('five lines a second are enough for a client that ignores 429', async () => {
    const limited = await startService({
      databaseUrl: service.databaseUrl,
      requestLogLevel: 'all',
      rateLimitPerSecond: 1,
    });
    try {
      await Promise.all(Array.from({ length: 100 }, () => call(limited, 'GET', '/v1/me')));
    } finally {
      await limited.stop();
    }
    const lines = await list('status=429&limit=100', limited.key);
    expect(lines.length).toBeGreaterThanOrEqual(5);
    expect(lines.length).toBeLessThan(50);
  });
});

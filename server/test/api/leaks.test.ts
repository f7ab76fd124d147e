import type { Operation } from '@simplane/contract';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/accounts/api-key-text.ts';
import type { Context } from '../../src/accounts/context.ts';
import { AppError } from '../../src/platform/app-error.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { exchange, head } from '../support/raw-http.ts';
import { apiWith, startService, type TestService } from '../support/service.ts';

const activationCode = 'LPA:1$smdp.example.com$SECRET-MATCHING-ID';
const sql = "select hash, last4 from api_keys where account_id = 'a' order by id for update";
const valueOfBody = 'VALUE-OF-A-BODY-7f3a';
const valueOfQuery = 'VALUE-OF-A-QUERY-19cd';

const bugs: Record<string, (db: Queryable) => Promise<unknown>> = {
  sql: () => Promise.reject(new Error(sql)),
  stack: () => Promise.reject(Object.assign(new Error('boom'), { statusCode: 418, expose: true })),
  activation: () => Promise.reject(new Error(`download of ${activationCode} failed`)),
  key: () => Promise.reject(new Error(`upstream said: ${service.key} is not allowed`)),
  text: () => Promise.reject(`thrown text with ${service.key} and ${activationCode}`),
  nothing: () => Promise.reject(undefined),
  cause: () =>
    Promise.reject(new AppError('internal', 'It broke.', { cause: new Error(`${sql} ${activationCode}`) })),
  statement: (db) =>
    db.query({ name: 'test_wrong', text: 'select no_such_column from idempotency_keys' }, []),
  value: (db) => db.query({ name: 'test_value', text: 'select $1::uuid from api_keys' }, [valueOfBody]),
  row: (db) => db.query({ name: 'test_row', text: 'insert into products (id) values ($1)' }, [valueOfBody]),
  unserialisable: async () => ({
    get ok() {
      throw new Error(sql);
    },
  }),
  unavailable: () => Promise.reject(Object.assign(new Error(`connect ${sql}`), { code: 'ECONNREFUSED' })),
};

function probe(method: 'GET' | 'POST', name: string): Operation {
  return {
    method,
    path: `/v1/probe/${name}`,
    tag: 'Probes',
    summary: 'A probe',
    description: 'Only in this test.',
    scope: 'read',
    audit: { action: 'esim.updated', target: 'esim' },
    status: 200,
    response: Type.Object({ ok: Type.Boolean() }),
    refusals: [],
  };
}

const probes = {
  operations: Object.fromEntries(
    Object.keys(bugs).flatMap((name) => [
      [`get_${name}`, probe('GET', name)],
      [`post_${name}`, probe('POST', name)],
    ]),
  ),
  handlers: Object.fromEntries(
    Object.entries(bugs).flatMap(([name, bug]) => [
      [`get_${name}`, ({ db }: Context) => bug(db)],
      [`post_${name}`, bug],
    ]),
  ),
};

let service: TestService;
let otherKey: string;
const wrongKey = generateApiKey('sandbox');
const liveKey = generateApiKey('live');
const replies: Reply[] = [];

beforeAll(async () => {
  service = await startService({ api: apiWith(probes), requestLogLevel: 'all' });
  otherKey = (await service.createAccount('Other')).key;
  await sendRequests();
});
afterAll(() => service.stop());

/** Sends every kind of valid and invalid request, except secrets in place of names. */
async function sendRequests(): Promise<void> {
  const keep = async (reply: Promise<Reply>) => {
    const kept = await reply;
    replies.push(kept);
    return kept;
  };
  const get = (path: string, options: Parameters<typeof call>[3] = {}) =>
    keep(call(service, 'GET', path, options));
  const order = (body: unknown, idempotencyKey?: string) => keep(provision(service, idempotencyKey, body));
  const metadata = { note: valueOfBody, code: activationCode };

  for (const path of ['/v1/me', '/v1/products?limit=2', '/v1/executions', '/livez', '/readyz'])
    await get(path);
  const good = await order({ product_id: 'prod_europe_5gb_30d', metadata, description: valueOfBody }, 'one');
  expect(good.status).toBe(202);
  await order({ product_id: 'prod_europe_5gb_30d', metadata, description: valueOfBody }, 'one');
  await order({ product_id: 'prod_europe_5gb_30d', metadata }, 'one');
  await get(`/v1/executions/${good.json.id}`);
  await get(`/v1/executions/${good.json.id}`, { key: otherKey });
  await order({ product_id: 'prod_none', description: valueOfBody });
  await order({ product_id: 'prod_europe_5gb_30d', metadata: { a: 1, code: activationCode } });
  await order({ product_id: "'; drop table api_keys; --" });
  for (const raw of [
    `{"${valueOfBody}`,
    `[${JSON.stringify(valueOfBody)}]`,
    '{"a":1e400}',
    '{"a":"\\u0000"}',
  ])
    await keep(call(service, 'POST', '/v1/esims', { raw }));
  await keep(
    call(service, 'POST', '/v1/esims', { raw: valueOfBody, headers: { 'Content-Type': 'text/plain' } }),
  );
  await keep(call(service, 'POST', '/v1/esims', { raw: valueOfBody.padEnd(300_000) }));

  await get(`/v1/products?starting_after=${valueOfQuery}`);
  await get(`/v1/executions?status=${valueOfQuery}`);
  await get(`/v1/me?token=${valueOfQuery}&api_key=${service.key}`);
  await get(`/v1/none?token=${valueOfQuery}&api_key=${service.key}`);
  await get("/v1/products/'%20or%201=1");
  for (const key of [wrongKey, liveKey, service.key.slice(0, -3), null]) await get('/v1/me', { key });
  await get('/v1/me', { key: null, headers: { Authorization: `Basic ${service.key}` } });
  await get('/v1/me', { key: null, headers: { Authorization: `Bearer ${service.key} ${valueOfQuery}` } });
  await get('/v1/me', { headers: { 'Service-Version': '2000-01-01', Cookie: valueOfBody } });
  await keep(call(service, 'DELETE', `/v1/me?token=${valueOfQuery}`));

  for (const name of Object.keys(bugs)) {
    for (const method of ['GET', 'POST']) {
      const idempotencyKey = method === 'POST' ? `bug-${name}` : undefined;
      const options = idempotencyKey === undefined ? {} : { idempotencyKey };
      const reply = await keep(call(service, method, `/v1/probe/${name}?token=${valueOfQuery}`, options));
      if (!(name === 'unserialisable' && method === 'POST')) expect(reply.status).toBeGreaterThanOrEqual(500);
    }
  }

  const authorization = { Authorization: `Bearer ${service.key}` };
  await keep(exchange(service.url, `GET /v1/me?${valueOfQuery} nonsense ${service.key}\r\n\r\n`));
  await keep(exchange(service.url, head('GET', '/v1/me', { ...authorization, Cookie: 'c'.repeat(17_000) })));
  await keep(exchange(service.url, head('GET', `/v1/products/%zz?${valueOfQuery}`, authorization)));
}

const wholeOf = ({ text, headers }: Reply) => `${text}\n${[...headers].join('\n')}`;
const requestLines = () => service.logLines.map((line) => JSON.parse(line));

describe('no response', () => {
  test('contains a stack frame or a file path', () => {
    for (const reply of replies) {
      expect(wholeOf(reply)).not.toMatch(
        /\bat (async )?[\w.<>]+ \(|:\d+:\d+\)|node_modules|node:internal|\.[cm]?[jt]s:\d/,
      );
      expect(wholeOf(reply)).not.toMatch(/file:\/\/|\/(home|work|tmp|usr|var|src|dist)\//);
      expect(wholeOf(reply)).not.toContain(process.cwd());
    }
  });

  test('contains SQL, a table or column name, or a database error', async () => {
    const tables = await service.db.query<{ name: string }>({
      name: 'test_tables',
      text: "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')",
    });
    const words = ['accounts', 'products', 'executions']; // also words of the API
    const names = tables.map(({ name }) => name).filter((name) => !words.includes(name));
    expect(names).toContain('idempotency_keys');
    const columns = [
      'no_such_column',
      'fingerprint',
      'lock_id',
      'price_amount',
      'revoked_at',
      'account_id =',
    ];
    for (const reply of replies) {
      const text = wholeOf(reply).replaceAll(/drop table api_keys/g, ''); // what the client itself sent
      for (const name of [...names, ...columns]) expect(text).not.toContain(name);
      expect(text).not.toMatch(
        /\bselect\b.*\bfrom\b|\binsert into\b|\bdelete from\b|\bupdate \w+ set\b|\breturning\b|\bpg_\w+|::\w+\[?\]?|\bfor update\b/i,
      );
      expect(text).not.toMatch(/syntax for type|does not exist|violates|ECONN|postgres/i);
    }
  });

  test('contains the database address or the name of the framework', () => {
    const { host, pathname, password } = new URL(service.databaseUrl);
    const parts = [service.databaseUrl, host, pathname.slice(1), password].filter((part) => part.length > 3);
    for (const reply of replies) {
      for (const part of parts) expect(wholeOf(reply)).not.toContain(part);
      expect(wholeOf(reply)).not.toMatch(/FST_ERR|HPE_|fastify|x-powered-by/i);
      expect(reply.headers.get('server')).toBeNull();
    }
  });

  test('contains a key, whether the caller’s or a refused one', () => {
    for (const reply of replies) {
      for (const key of [service.key, service.key.slice(0, -3), otherKey, wrongKey, liveKey])
        expect(wholeOf(reply)).not.toContain(key);
    }
  });

  test('contains an activation code from an error', () => {
    for (const reply of replies) expect(wholeOf(reply)).not.toMatch(/LPA:1|SECRET-MATCHING-ID/);
  });

  test('to a bug reveals more than a generic error', () => {
    const serverErrors = replies.filter(({ status }) => status >= 500);
    expect(serverErrors.length).toBeGreaterThan(15);
    for (const { json } of serverErrors) {
      expect(['internal', 'unavailable']).toContain(json.error.code);
      expect(json.error.message.length).toBeLessThan(120);
      expect(json.error).not.toHaveProperty('param');
    }
  });
});

describe('no log line', () => {
  test('of a request contains a key or an Authorization value, server errors aside', () => {
    const lines = service.logLines.filter((line) => !(JSON.parse(line).status >= 500));
    expect(lines.length).toBeGreaterThan(25);
    for (const line of lines) {
      for (const key of [service.key, service.key.slice(0, -3), otherKey, wrongKey, liveKey])
        expect(line).not.toContain(key);
      expect(line).not.toMatch(/bearer|basic/i);
    }
  });

  test('contains a query string', () => {
    for (const line of service.logLines) {
      expect(line).not.toContain(valueOfQuery);
      expect(line).not.toMatch(/token=|api_key=|starting_after=/);
    }
  });

  test('contains a value from a request’s body or other headers', () => {
    const lines = service.logLines.filter((line) => !JSON.parse(line).path?.startsWith('/v1/probe/'));
    for (const line of lines) {
      expect(line).not.toContain(valueOfBody);
      expect(line).not.toContain('SECRET-MATCHING-ID');
    }
  });

  test('contains a key, even if the reported error does', () => {
    for (const line of service.logLines) expect(line).not.toContain(service.key);
  });

  test('contains an activation code, even if the reported error does', () => {
    for (const line of service.logLines) expect(line).not.toMatch(/LPA:1\$|SECRET-MATCHING-ID/);
  });

  test.each([
    ['message', 'value', '22P02'],
    ['detail', 'row', '23502'],
  ])('contains a value that the %s of a database error quotes', (_, name, code) => {
    const lines = service.logLines.filter((line) => JSON.parse(line).path === `/v1/probe/${name}`);
    expect(lines.map((line) => JSON.parse(line).cause.code)).toEqual([code, code]);
    for (const line of lines) expect(line).not.toContain(valueOfBody);
  });

  test('contains a key sent by mistake in a path, a query name or a field name', async () => {
    const before = service.logLines.length;
    await call(service, 'GET', `/v1/products/${service.key}`);
    await call(service, 'GET', `/v1/none/${service.key}`);
    await call(service, 'GET', `/v1/products?${service.key}=1`);
    await call(service, 'POST', '/v1/esims', { body: { [service.key]: 1 } });
    const chosen = 'sp_test_of_a_user_who_chose_it';
    const { status } = await call(service, 'PUT', `/v1/event_consumers/${chosen}`, { body: {} });
    expect(status).toBe(200);
    await expect.poll(() => service.logLines.length).toBe(before + 5);
    for (const line of service.logLines.slice(before)) {
      expect(line).not.toContain(service.key);
      expect(line).not.toContain(chosen);
    }
  });
});

describe('encoded or long input', () => {
  const matchingId = 'MATCHING-ID-9C41';
  const code = `LPA:1$smdp.example.com$${matchingId}`;
  const every = (text: string) =>
    [...text].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
  const some = (text: string) => [...text].map((c, i) => (i % 3 === 1 ? every(c) : c)).join('');
  const encodings: [how: string, encode: (text: string) => string][] = [
    ['unencoded', (text) => text],
    ['encoded by a client library', encodeURIComponent],
    ['encoded character by character', every],
    ['partly encoded', some],
    ['encoded twice', (text) => encodeURIComponent(every(text))],
    ['encoded three times', (text) => encodeURIComponent(encodeURIComponent(some(text)))],
    ['encoded in capitals', (text) => every(text).toUpperCase()],
    ['encoded with a stray percent sign', (text) => `%zz${some(text)}%`],
  ];

  test.each(encodings)('%s never puts a key or an activation code into the log', async (_, encode) => {
    const secrets = [service.key, code, `1$smdp.example.com$${matchingId}`];
    const before = service.logLines.length;
    const paths = secrets.flatMap((secret) => [
      `/v1/products/${encode(secret)}`,
      `/v1/esims/${encode(secret)}/install`,
      `/v1/none/${encode(secret)}`,
      `/${encode(secret)}`,
      `/v1/products?${encode(secret)}=1`,
      `/v1/executions?status=${encode(secret)}`,
    ]);
    const bodies = secrets.map((secret) => ({ [encode(secret)]: 1 }));
    for (const path of paths) {
      const authorization = { Authorization: `Bearer ${service.key}` };
      await exchange(service.url, head('GET', path.replaceAll(' ', '%20'), authorization));
    }
    for (const body of bodies) await call(service, 'POST', '/v1/esims', { body });
    await expect.poll(() => service.logLines.length).toBe(before + paths.length + bodies.length);
    for (const line of service.logLines.slice(before)) {
      const plain = decodeFully(line);
      expect(plain).not.toContain(service.key);
      expect(plain).not.toContain(matchingId);
    }
  });

  test('nor into the request log or the audit log', async () => {
    const url = `https://example.com/${encodeURIComponent(code)}?key=${service.key}`;
    const settings = {
      url,
      enabled_event_types: ['*'],
      metadata: { code },
      description: `${code} ${service.key}`,
    };
    const { json } = await call(service, 'POST', '/v1/webhook_endpoints', { body: settings });
    const changed = { description: `${service.key}, then ${json.secret}`, metadata: { code: null } };
    await call(service, 'PATCH', `/v1/webhook_endpoints/${json.id}`, { body: changed });
    const last = await call(service, 'GET', `/v1/products/${matchingId}`);
    const countLast = async () =>
      (
        await dump(
          `select id from request_log where id = '${uuidOfId('req', last.headers.get('request-id') ?? '')}'`,
        )
      ).length;
    await expect.poll(countLast).toBe(1);
    const lines = [
      ...(await dump('select * from request_log')),
      ...(await dump('select * from audit_log')),
    ].map((row) => decodeFully(JSON.stringify(row)));
    expect(lines.length).toBeGreaterThan(100);
    for (const line of lines) {
      for (const secret of [
        service.key,
        otherKey,
        json.secret,
        matchingId,
        activationCode,
        valueOfBody,
        valueOfQuery,
      ])
        expect(line).not.toContain(secret);
    }
  });

  const dump = async (text: string) => (await service.db.pool.query<Record<string, unknown>>(text)).rows;

  test('a logged path keeps its words and ids', async () => {
    const { json } = await provision(service);
    await call(service, 'GET', `/v1/executions/${json.id}`);
    await call(service, 'GET', '/v1/products/prod_europe_5gb_30d');
    await call(service, 'GET', '/v1/Not%20Ours/x');
    await expect
      .poll(() => requestLines().map(({ path }) => path))
      .toEqual(
        expect.arrayContaining([`/v1/executions/${json.id}`, '/v1/products/prod_europe_5gb_30d', '/v1/*/x']),
      );
  });

  const long = 'n'.repeat(250_000);
  test.each<[where: string, body: object]>([
    ['a name', { [long]: 1 }],
    ['a name within metadata', { product_id: 'prod_europe_5gb_30d', metadata: { [long]: 'x' } }],
    ['a value within such a name', { product_id: 'prod_europe_5gb_30d', metadata: { [long]: 1 } }],
    ['a number too large, under such a name', { [long]: 2 ** 60 }],
    ['text that cannot be stored, under such a name', { [long]: '\u0000' }],
    ['a value', { product_id: long }],
    ['the name of a property of a list', { product_id: [{ [long]: 1 }] }],
  ])('250 kB as %s gets a short response and a short log line', async (_, body) => {
    for (const idempotencyKey of [undefined, `long-${_}`]) {
      const before = service.logLines.length;
      const reply = await call(service, 'POST', '/v1/esims', {
        body,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      });
      expect([400, 404]).toContain(reply.status);
      expect(reply.text.length).toBeLessThan(2_000);
      expect(reply.json.error.message).toMatch(/[.;]/); // the explanation was not cut off
      await expect.poll(() => service.logLines.length).toBe(before + 1);
      expect(service.logLines.at(-1)?.length).toBeLessThan(2_000);
    }
  });

  test('15 kB in a path, a query name or a header gets a short response and a short log line', async () => {
    const before = service.logLines.length;
    const text = 'n'.repeat(15_000);
    const authorization = { Authorization: `Bearer ${service.key}` };
    const requests = [
      head('GET', `/v1/${text}`, authorization),
      head('GET', `/v1/products/${text}`, authorization),
      head('GET', `/v1/products?${text}=1`, authorization),
      head('GET', `/v1/products?starting_after=${text}`, authorization),
      head('GET', '/v1/products', { ...authorization, 'Service-Version': text }),
      head('GET', '/v1/products', { Authorization: `Bearer ${text}` }),
      head('POST', '/v1/esims', { ...authorization, 'Idempotency-Key': text, 'Content-Length': 0 }),
    ];
    for (const request of requests) {
      const { status, text: answer } = await exchange(service.url, request);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(answer.length).toBeLessThan(2_000);
    }
    await expect.poll(() => service.logLines.length).toBe(before + requests.length);
    for (const line of service.logLines.slice(before)) expect(line.length).toBeLessThan(2_000);
  });

  /** Decodes as far as a reader of the log could. */
  function decodeFully(text: string): string {
    for (let rest = text; ; ) {
      const decoded = rest.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
      if (decoded === rest) return decoded;
      rest = decoded;
    }
  }
});

describe('the log', () => {
  test('has one line per request, with the id that the client got', async () => {
    const ids = replies.map(({ headers }) => headers.get('request-id'));
    expect(ids.every((id) => id?.startsWith('req_'))).toBe(true);
    await expect
      .poll(() => requestLines().map((line) => line.request_id))
      .toEqual(expect.arrayContaining(ids));
    const logged = requestLines().map((line) => line.request_id);
    expect(new Set(logged).size).toBe(logged.length);
  });

  test('has an error line for a server error, with its cause and stack', () => {
    const [line] = requestLines().filter(({ path }) => path === '/v1/probe/statement');
    expect(line).toMatchObject({
      level: 'error',
      status: 500,
      error_code: 'internal',
      cause: { code: '42703' },
    });
    expect(line.cause.frames[0]).toMatch(/^ +at /);
  });

  test('has an info line for a refusal, with its code, account and key id', () => {
    const line = requestLines().find(({ error_code: code }) => code === 'idempotency_key_reused');
    expect(line).toMatchObject({
      level: 'info',
      method: 'POST',
      route: '/v1/esims',
      status: 400,
      account_id: expect.stringMatching(/^acct_/),
      key_id: expect.stringMatching(/^key_/),
    });
  });
});

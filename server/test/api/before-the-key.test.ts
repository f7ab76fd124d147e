import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/accounts/api-key-text.ts';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { createLink } from '../../src/accounts/sessions/create-link.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { exchange, head, openConnection } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ unknownKeysPerSecond: 1 });
});
afterAll(() => service.stop());

const session = '/dashboard/api/session';
const ownPage = () => ({ Origin: service.url });

const signIn = (body: unknown): Promise<Reply> =>
  call(service, 'POST', session, { key: null, headers: ownPage(), body });

/** The cookie of a new session. */
async function openSession(): Promise<string> {
  const { headers } = await signIn({ api_key: service.key });
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

const asSession = (cookie: string): Promise<Reply> =>
  call(service, 'GET', '/dashboard/api/v1/me', { key: null, headers: { Cookie: cookie } });

/** Long names of equal length collide in a hash table, and each integer has too many digits. */
const hostileBody = `{"${'a'.repeat(17_000)}":[${Array.from({ length: 6_000 }, () => '9007199254740993').join()}]}`;

describe('before it is known who asks', () => {
  test('a sign-in takes 4 kB, so no body makes it expensive', async () => {
    const headers = { ...ownPage(), 'Content-Type': 'application/json' };
    const refused = await call(service, 'POST', session, { key: null, headers, raw: hostileBody });
    expect([refused.status, refused.json.error.code]).toEqual([413, 'body_too_large']);
    const fits = await signIn({ api_key: 'x'.repeat(4_000) });
    expect(fits.status).toBe(401);
  });

  test('the page that sends it is checked before its body is read', async () => {
    const connection = await openConnection(service.url);
    const headers = {
      Origin: 'http://example.com',
      'Content-Type': 'application/json',
      'Content-Length': 100,
    };
    connection.socket.write(head('POST', session, headers));
    const { status, json } = await connection.reply();
    connection.socket.destroy();
    expect([status, json.error.code]).toEqual([403, 'origin_not_allowed']);
  });

  test('a connection that sends nothing is closed after the time that a client has to read', async () => {
    const impatient = await startService({
      drainTimeoutMs: 200,
      headersTimeoutMs: 200_000,
      requestTimeoutMs: 200_000,
    });
    const { socket } = await openConnection(impatient.url);
    try {
      await expect.poll(() => socket.closed, { timeout: 30_000 }).toBe(true);
    } finally {
      socket.destroy();
      await impatient.stop();
    }
  });

  test('a known key gets an answer at once to a body that is hostile', async () => {
    for (const idempotencyKey of [undefined, 'hostile-1']) {
      const { status, json } = await call(service, 'POST', '/v1/esims', {
        raw: hostileBody,
        ...(idempotencyKey && { idempotencyKey }),
      });
      expect([status, json.error.code]).toEqual([400, 'parameter_invalid']);
    }
  });
});

describe('guesses from an address', () => {
  /** Sends made-up keys until the address gets 429. */
  async function guess(send: (key: string) => Promise<Reply>): Promise<void> {
    for (;;) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => send(generateApiKey('sandbox'))));
      if (replies.some(({ status }) => status === 429)) return;
    }
  }

  test('of keys leave its sessions, its good keys, their sign-ins and its links alone', async () => {
    const cookie = await openSession();
    const link = await createLink(service.db, { ...service.service, ...commandLine }, await keyUuid());
    await guess((key) => call(service, 'GET', '/v1/me', { key }));
    expect((await asSession(cookie)).status).toBe(200);
    expect((await call(service, 'GET', '/v1/me')).status).toBe(200);
    expect((await signIn({ api_key: service.key })).status).toBe(201);
    expect((await signIn({ link: link.slice(link.indexOf('link=') + 5) })).status).toBe(201);
  });

  test('of links get 429, and leave its sessions alone', async () => {
    const cookie = await openSession();
    await guess((link) => signIn({ link }));
    expect((await asSession(cookie)).status).toBe(200);
    expect((await signIn({ api_key: service.key })).status).toBe(201);
  });

  test('are none if the links are good: any number of people sign in from one address', async () => {
    const limited = await startService({ unknownKeysPerSecond: 0.2 });
    try {
      const { api_key: key } = (await call(limited, 'GET', '/v1/me')).json;
      const [row] = await limited.db.query<{ id: string }>(
        { name: 'test_key_by_end', text: 'select id from api_keys where last4 = $1' },
        [key.last4],
      );
      for (let n = 0; n < 8; n++) {
        const made = await createLink(limited.db, { ...limited.service, ...commandLine }, row?.id ?? '');
        const body = { link: made.slice(made.indexOf('link=') + 5) };
        const headers = { Origin: limited.url };
        expect((await call(limited, 'POST', session, { key: null, headers, body })).status).toBe(201);
      }
    } finally {
      await limited.stop();
    }
  });

  test('of session tokens take at most two connections, so that others are served', async () => {
    const cookie = await openSession();
    const [name] = cookie.split('=');
    const admin = new pg.Client({ connectionString: service.databaseUrl });
    await admin.connect();
    await admin.query('begin');
    await admin.query('lock table dashboard_sessions in access exclusive mode');
    const guesses = Array.from({ length: 40 }, (_, n) => asSession(`${name}=${'x'.repeat(40)}${n}`));
    try {
      for (let n = 0; n < 5; n++) expect((await provision(service)).status).toBe(202);
    } finally {
      await admin.query('rollback');
      await admin.end();
    }
    expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([401]));
    expect((await asSession(cookie)).status).toBe(200);
  });

  async function keyUuid(): Promise<string> {
    const rows = await service.db.query<{ id: string }>({
      name: 'test_any_key',
      text: 'select id from api_keys limit 1',
    });
    return rows[0]?.id ?? '';
  }
});

describe('a body over the limit', () => {
  test.each([
    [5, 15],
    [20, 4],
  ])('of %i MB gets its 413 from fetch, which sends on while it is answered', async (megabytes, times) => {
    const raw = `{"a":"${'x'.repeat(megabytes * 1024 * 1024)}"}`;
    const statuses = new Set<number>();
    for (let n = 0; n < times; n++) statuses.add((await call(service, 'POST', '/v1/esims', { raw })).status);
    expect(statuses).toEqual(new Set([413]));
  });

  test('leaves the connection usable once it has been sent', async () => {
    const connection = await openConnection(service.url);
    const headers = {
      Authorization: `Bearer ${service.key}`,
      'Content-Type': 'application/json',
      'Content-Length': 300_000,
    };
    connection.socket.write(head('POST', '/v1/esims', headers) + 'x'.repeat(300_000));
    expect((await connection.reply()).status).toBe(413);
    connection.socket.write(head('GET', '/livez', { Connection: 'close' }));
    await connection.closed;
    expect(connection.received().toString()).toContain('{"status":"ok"}');
  });
});

test('no answer lets a browser guess its type', async () => {
  const replies: Record<string, { headers: Headers }> = {};
  for (const path of [
    '/v1/me',
    '/v1/nothing',
    '/livez',
    '/docs',
    '/openapi.json',
    '/dashboard',
    '/v1/esims?limit=0',
  ]) {
    replies[path] = await call(service, 'GET', path);
  }
  replies['without a key'] = await call(service, 'GET', '/v1/me', { key: null });
  replies['wrong method'] = await call(service, 'DELETE', '/v1/me');
  replies['to an agent'] = await call(service, 'POST', '/mcp', { body: {} });
  // It may have a signing secret or an activation code.
  expect(replies['to an agent']?.headers.get('cache-control')).toBe('no-store');
  replies['not HTTP'] = await exchange(service.url, 'GET\r\n\r\n');
  const abort = new AbortController();
  const headers = { Authorization: `Bearer ${service.key}`, Accept: 'text/event-stream' };
  replies['a stream'] = await fetch(`${service.url}/v1/events/feed`, { headers, signal: abort.signal });
  abort.abort();
  for (const [what, { headers }] of Object.entries(replies)) {
    expect([what, headers.get('x-content-type-options')]).toEqual([what, 'nosniff']);
  }
});

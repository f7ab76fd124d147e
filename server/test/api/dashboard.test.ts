import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { createLink } from '../../src/accounts/sessions/create-link.ts';
import { removeExpired } from '../../src/accounts/sessions/end-session.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { openSse } from '../support/sse.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterAll(() => service.stop());

type Answer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  json: any;
};

/** Plain HTTP with every header under control: `fetch` sets Host and Origin itself. */
function send(
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
  to: Pick<TestService, 'url'> = service,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sent = request(
      to.url + path,
      { method, headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers } },
      (response) => {
        response
          .toArray()
          .then((chunks) => {
            const text = Buffer.concat(chunks).toString();
            const isJson = response.headers['content-type']?.includes('json') ?? false;
            const json = isJson ? JSON.parse(text) : null;
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
          })
          .catch(reject);
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

const ownOrigin = () => ({ origin: service.url });

async function signIn(by: object = { api_key: service.key }) {
  const answer = await send('POST', '/dashboard/api/session', { headers: ownOrigin(), body: by });
  const cookie = String(answer.headers['set-cookie'] ?? '').split(';')[0] ?? '';
  return { answer, cookie, csrf: answer.json?.csrf_token as string };
}

const order = { product_id: 'prod_europe_5gb_30d' };
const session = '/dashboard/api/session';

describe('a session', () => {
  test('stands for its key: it reads and writes what the key may', async () => {
    const { answer, cookie, csrf } = await signIn();
    expect([answer.status, answer.headers['cache-control']]).toEqual([201, 'no-store']);
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      /^simplane_session_\d+=[\w-]{43}; Path=\/dashboard; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const me = await send('GET', '/dashboard/api/v1/me', { headers: { cookie } });
    expect(me.json).toMatchObject({ account: { name: 'Test account' } });
    const ordered = await send('POST', '/dashboard/api/v1/esims', {
      headers: { cookie, ...ownOrigin(), 'x-csrf-token': csrf },
      body: order,
    });
    expect(ordered.status).toBe(202);
  });

  test('leaves an entry in the audit log for every write, once', async () => {
    const { cookie, csrf } = await signIn();
    const headers = { cookie, ...ownOrigin(), 'x-csrf-token': csrf, 'idempotency-key': 'audited' };
    const first = await send('POST', '/dashboard/api/v1/esims', { headers, body: order });
    const again = await send('POST', '/dashboard/api/v1/esims', { headers, body: order });
    expect([first.status, again.headers['idempotent-replayed']]).toEqual([202, 'true']);
    const entries = await call(service, 'GET', `/v1/audit_log?target=${first.json.id}`);
    expect(entries.json.data).toMatchObject([
      { action: 'esim.ordered', via: 'dashboard', request_id: first.headers['request-id'] },
    ]);

    const key = { ...headers, 'idempotency-key': 'audited by itself' };
    await send('POST', '/dashboard/api/v1/api_keys', {
      headers: key,
      body: { name: 'One', scopes: ['read'] },
    });
    const { json } = await call(service, 'GET', '/v1/audit_log?limit=1');
    expect(json.data).toMatchObject([{ action: 'api_key.created' }]);
  });

  test('is shorter for an operator', async () => {
    const { answer } = await signIn({ api_key: await service.createKey({ scopes: ['operator'] }) });
    expect(answer.headers['set-cookie']?.[0]).toContain('Max-Age=28800');
  });

  test('is accepted only under /dashboard: /v1 takes keys and nothing else', async () => {
    const { cookie } = await signIn();
    expect((await send('GET', '/v1/me', { headers: { cookie } })).json.error.code).toBe('api_key_missing');
    const headers = { authorization: `Bearer ${service.key}` };
    expect((await send('GET', '/dashboard/api/v1/me', { headers })).json.error.code).toBe('session_expired');
  });

  test('ends by signing out, and after 12 hours', async () => {
    const { cookie, csrf } = await signIn();
    const headers = { cookie, ...ownOrigin(), 'x-csrf-token': csrf };
    const out = await send('DELETE', session, { headers });
    expect(out.status).toBe(204);
    expect(out.headers['set-cookie']?.[0]).toMatch(/^simplane_session_\d+=; Path=\/dashboard; Max-Age=0; /);
    expect((await send('GET', '/dashboard/api/v1/me', { headers: { cookie } })).status).toBe(401);

    const other = await signIn();
    service.clock.advance(12 * 3_600_000 + 1);
    const late = await send('GET', '/dashboard/api/v1/me', { headers: { cookie: other.cookie } });
    expect(late.json.error.code).toBe('session_expired');
  });

  test('that has ended, by signing out or after 12 hours, has no open stream', async () => {
    const open = (cookie: string) =>
      openSse({ url: `${service.url}/dashboard/api`, key: '' }, '/v1/events/feed', { cookie });
    const [first, second] = [await signIn(), await signIn()];
    const [ofFirst, ofSecond] = [await open(first.cookie), await open(second.cookie)];
    let isSecondOpen = true;
    const secondEnded = ofSecond.ended.then(() => {
      isSecondOpen = false;
    });
    const headers = { cookie: first.cookie, ...ownOrigin(), 'x-csrf-token': first.csrf };
    await send('DELETE', session, { headers });
    await ofFirst.ended;
    expect([ofSecond.status, isSecondOpen]).toEqual([200, true]);
    service.clock.advance(12 * 3_600_000 + 1);
    await secondEnded;
  });

  test('ends with its key on every process, also a stream that is open', async () => {
    const key = await service.createKey();
    const { cookie } = await signIn({ api_key: key });
    const other = await startService({ databaseUrl: service.databaseUrl });
    const otherCookie = cookie.replace(/_\d+=/, `_${new URL(other.url).port}=`);
    const askOther = () => send('GET', '/dashboard/api/v1/me', { headers: { cookie: otherCookie } }, other);
    expect((await askOther()).status).toBe(200);
    const stream = await openSse({ url: `${service.url}/dashboard/api`, key: '' }, '/v1/events/feed', {
      cookie,
    });
    const { json: identity } = await call({ ...service, key }, 'GET', '/v1/me');
    await call(service, 'DELETE', `/v1/api_keys/${identity.api_key.id}`);
    await until(
      () => send('GET', '/dashboard/api/v1/me', { headers: { cookie } }),
      ({ status }) => status === 401,
    );
    try {
      await until(askOther, ({ status }) => status === 401);
    } finally {
      await other.stop();
    }
    await stream.ended;
  });

  test('of an account with a limit of open orders leaves its entry too', async () => {
    const text = 'update accounts set max_open_executions = 50 where id = $1';
    const { accountUuid, key } = await service.createAccount('Limited');
    await service.db.query({ name: 'test_limit', text }, [accountUuid]);
    const { cookie, csrf } = await signIn({ api_key: key });
    const headers = { cookie, ...ownOrigin(), 'x-csrf-token': csrf };
    const { status, json } = await send('POST', '/dashboard/api/v1/esims', { headers, body: order });
    const entries = await call({ ...service, key }, 'GET', `/v1/audit_log?target=${json.id}`);
    expect([status, entries.json.data.length]).toEqual([202, 1]);
  });

  test('ends when its key has begun twenty others', async () => {
    const key = await service.createKey();
    const first = await signIn({ api_key: key });
    const isSignedIn = async () =>
      (await send('GET', '/dashboard/api/v1/me', { headers: { cookie: first.cookie } })).status === 200;
    for (let n = 0; n < 19; n++) {
      service.clock.advance(1);
      await signIn({ api_key: key });
    }
    expect(await isSignedIn()).toBe(true);
    service.clock.advance(1);
    await signIn({ api_key: key });
    expect(await isSignedIn()).toBe(false);
  });

  test('is in the audit log, without a secret', async () => {
    const { cookie } = await signIn();
    const { json } = await call(service, 'GET', '/v1/audit_log?action=session.started&limit=1');
    expect(json.data).toMatchObject([
      { actor: { type: 'api_key' }, action: 'session.started', ip: '127.0.0.1', via: 'dashboard' },
    ]);
    expect(JSON.stringify(json)).not.toContain(cookie.split('=')[1]);
  });
});

describe('a write', () => {
  test('with a stolen cookie alone changes nothing', async () => {
    const { cookie, csrf } = await signIn();
    const other = await signIn();
    const attempts: [headers: Record<string, string>, code: string][] = [
      [{ cookie }, 'origin_not_allowed'],
      [{ cookie, ...ownOrigin() }, 'csrf_token_invalid'],
      [{ cookie, ...ownOrigin(), 'x-csrf-token': `${csrf}x` }, 'csrf_token_invalid'],
      [{ cookie, ...ownOrigin(), 'x-csrf-token': other.csrf }, 'csrf_token_invalid'],
      [{ cookie, 'x-csrf-token': csrf }, 'origin_not_allowed'],
      [{ cookie, origin: 'https://evil.example', 'x-csrf-token': csrf }, 'origin_not_allowed'],
      [{ cookie, origin: 'null', 'x-csrf-token': csrf }, 'origin_not_allowed'],
    ];
    const before = (await call(service, 'GET', '/v1/executions')).json.data.length;
    for (const [headers, code] of attempts) {
      const { status, json } = await send('POST', '/dashboard/api/v1/esims', { headers, body: order });
      expect([status, json.error.code]).toEqual([403, code]);
      const signOut = await send('DELETE', session, { headers });
      expect([signOut.status, signOut.json.error.code]).toEqual([403, code]);
    }
    expect((await call(service, 'GET', '/v1/executions')).json.data.length).toBe(before);
  });

  test.each([{}, { api_key: '' }, { api_key: 7 }, { link: 7 }])(
    'to sign in needs a key or a link: %j',
    async (by) => {
      const { answer } = await signIn(by);
      expect([answer.status, answer.json.error.code, answer.json.error.param]).toEqual([
        ...[400, 'parameter_missing', 'api_key'],
      ]);
    },
  );

  test('to sign in comes from our own page', async () => {
    const foreign = { headers: { origin: 'https://evil.example' }, body: { api_key: service.key } };
    expect((await send('POST', session, foreign)).json.error.code).toBe('origin_not_allowed');
  });
});

test('every path is refused under a host name that is not ours', async () => {
  const { cookie } = await signIn();
  const plain = ['/dashboard', '/dashboard/esims', session, '/dashboard/api/v1/me'];
  const encoded = plain.map((path) => path.replace('/d', '/%64'));
  for (const path of [...plain, ...encoded]) {
    const { status, json } = await send('GET', path, { headers: { cookie, host: 'evil.example' } });
    expect([path, status, json.error.code]).toEqual([path, 403, 'host_not_allowed']);
  }
  const { port } = new URL(service.url);
  for (const host of [
    'localhost.evil.example',
    `127.0.0.1.evil.example:${port}`,
    `evil.example:${port}`,
    `evil-localhost:${port}`,
  ]) {
    expect((await send('GET', '/dashboard', { headers: { host } })).json.error.code).toBe('host_not_allowed');
  }
});

describe('a link', () => {
  const keyUuid = async () => {
    const { json } = await call(service, 'GET', '/v1/me');
    const [row] = await service.db.query<{ id: string }>(
      { name: 'test_key', text: `select id from api_keys where last4 = $1 and account_id = $2` },
      [json.api_key.last4, service.accountUuid],
    );
    return row?.id ?? '';
  };
  const newLink = async () =>
    (await createLink(service.db, { ...service.service, ...commandLine }, await keyUuid())).replace(
      /^.*#link=/,
      '',
    );

  test('signs in once, however many try at the same time', async () => {
    const link = await newLink();
    const all = await Promise.all(Array.from({ length: 5 }, () => signIn({ link })));
    expect(all.map(({ answer }) => answer.status).sort()).toEqual([201, 401, 401, 401, 401]);
  });

  test('works for ten minutes', async () => {
    const link = await newLink();
    service.clock.advance(10 * 60_000 + 1);
    const { answer } = await signIn({ link });
    expect([answer.status, answer.json.error.param]).toEqual([401, 'link']);
  });

  test('and a session stay until they have expired, and then nothing of them is kept', async () => {
    const { cookie } = await signIn();
    const link = await newLink();
    await removeExpired(service.db, service.clock);
    expect((await signIn({ link })).answer.status).toBe(201);
    expect((await send('GET', '/dashboard/api/v1/me', { headers: { cookie } })).status).toBe(200);
    await newLink();
    // Neither works any more in the millisecond in which it ends.
    for (const table of ['dashboard_links', 'dashboard_sessions']) {
      const { rows } = await service.db.pool.query(`select max(expires_at) as last from ${table}`);
      const endMs = rows[0].last.getTime();
      const left = async (nowMs: number) => {
        await removeExpired(service.db, { nowMs: () => nowMs });
        return (await service.db.pool.query(`select from ${table}`)).rowCount;
      };
      expect(await left(endMs - 1), table).toBeGreaterThan(0);
      expect(await left(endMs), table).toBe(0);
    }
  });
});

test('a sign-in counts against the rate of its key', async () => {
  const limited = await startService({ databaseUrl: service.databaseUrl, rateLimitPerSecond: 1 });
  try {
    const key = await service.createKey();
    const attempt = () =>
      send('POST', session, { headers: { origin: limited.url }, body: { api_key: key } }, limited);
    const all = await Promise.all(Array.from({ length: 20 }, attempt));
    expect(all.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    expect(all.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
  } finally {
    await limited.stop();
  }
});

describe('the page', () => {
  test('is served for every path, with a policy that allows our own files only', async () => {
    const page = await send('GET', '/dashboard/esims/8901', { headers: { 'accept-encoding': 'br' } });
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    });
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'"); // no other site shows it in a frame
  });

  test('has files that browsers keep, and an error for others', async () => {
    const { text } = await send('GET', '/dashboard');
    const [, script] = /src="(\/dashboard\/assets\/[^"]+\.js)"/.exec(text) ?? [];
    const file = await send('GET', script ?? '');
    expect(file.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
    });
    expect((await send('GET', '/dashboard/assets/..%2findex.html')).status).toBe(404);
    expect((await send('GET', '/dashboard/api/v1/nothing')).status).toBe(404);
  });
});

test('turned off, no route is left behind', async () => {
  const off = await startService({ hasDashboard: false, databaseUrl: service.databaseUrl });
  try {
    for (const [method, path] of [
      ['GET', '/dashboard'],
      ['GET', '/dashboard/esims'],
      ['GET', '/dashboard/assets/x.js'],
      ['POST', session],
      ['GET', '/dashboard/api/v1/me'],
    ] as const) {
      const { status, json } = await send(method, path, {}, off);
      expect([path, status, json.error.code]).toEqual([path, 404, 'route_missing']);
    }
  } finally {
    await off.stop();
  }
});

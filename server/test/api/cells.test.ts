import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cellHeader } from '../../../dashboard/src/session.ts';
import { cellOfKey, generateApiKey, hashApiKey, hasValidChecksum } from '../../src/accounts/api-key-text.ts';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { createLink } from '../../src/accounts/sessions/create-link.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { openSse } from '../support/sse.ts';

let eu: TestService;
let us: TestService;
/** As every deployment was before there were cells. */
let first: TestService;
beforeAll(async () => {
  [eu, us, first] = await Promise.all([
    startService({ cell: 'eu' }),
    startService({ cell: 'us' }),
    startService(),
  ]);
});
afterAll(async () => {
  await Promise.all([eu, us, first].map((service) => service.stop()));
});

const wrongCell = { type: 'invalid_request_error', code: 'wrong_cell', cell: 'eu' };

async function newKey(service: TestService): Promise<string> {
  const body = { name: 'Server', scopes: ['read', 'write'] };
  return (await call(service, 'POST', '/v1/api_keys', { body })).json.key;
}

describe('an API key', () => {
  test('has the label of its cell between prefix and random part, under the checksum', async () => {
    const key = await newKey(eu);
    expect(key).toMatch(/^sp_test_eu_[0-9A-Za-z]{38}$/);
    expect(hasValidChecksum(key)).toBe(true);
    expect(hasValidChecksum(key.replace('_eu_', '_us_'))).toBe(false);
    expect((await call(eu, 'GET', '/v1/me', { key })).status).toBe(200);
    expect(generateApiKey('live', 'eu')).toMatch(/^sp_live_eu_/);
  });

  test('of a deployment without a label has the form it always had', async () => {
    const key = await newKey(first);
    expect(key).toMatch(/^sp_test_[0-9A-Za-z]{38}$/);
    expect((await call(first, 'GET', '/v1/me', { key })).status).toBe(200);
  });

  test('keeps the label of its cell when it is rolled', async () => {
    const { json } = await call(eu, 'POST', '/v1/api_keys', { body: { name: 'Rolled', scopes: ['read'] } });
    const rolled = await call(eu, 'POST', `/v1/api_keys/${json.id}/roll`, { body: {} });
    expect(cellOfKey(rolled.json.key)).toBe('eu');
  });

  test('that reaches another cell gets 421 with its own, and nothing that looks like a wrong key', async () => {
    const key = await newKey(eu);
    for (const cell of [us, first]) {
      const { status, json, headers } = await call(cell, 'POST', '/v1/esims', {
        key,
        body: { product_id: 'prod_europe_5gb_30d' },
      });
      expect([status, json.error]).toEqual([421, expect.objectContaining(wrongCell)]);
      expect(json.error.message).toContain('"eu"');
      expect(headers.get('www-authenticate')).toBeNull();
    }
  });

  test('is refused as wrong if its own cell does not know it, or its checksum is wrong', async () => {
    const mistyped = (await newKey(eu)).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const unknown = [
      generateApiKey('sandbox', 'us'),
      generateApiKey('sandbox'),
      mistyped,
      mistyped.slice(0, -1),
    ];
    for (const key of unknown) {
      const { status, json } = await call(us, 'GET', '/v1/me', { key });
      expect([status, json.error.code]).toEqual([401, 'api_key_invalid']);
    }
  });

  test('that came along with its account works, whatever its label', async () => {
    const key = generateApiKey('sandbox', 'eu');
    const { id } = (await call(us, 'POST', '/v1/api_keys', { body: { name: 'Moved', scopes: ['read'] } }))
      .json;
    await us.db.pool.query('update api_keys set hash = $1 where id = $2', [
      hashApiKey(key),
      uuidOfId('key', id),
    ]);
    expect((await call(us, 'GET', '/v1/me', { key })).status).toBe(200);
  });

  test('of another cell counts as an unknown one, so that nobody can try keys without a limit', async () => {
    const strict = await startService({ cell: 'us', databaseUrl: us.databaseUrl, unknownKeysPerSecond: 1 });
    try {
      const statuses = new Set<number>();
      for (let i = 0; i < 30; i++)
        statuses.add((await call(strict, 'GET', '/v1/me', { key: generateApiKey('sandbox', 'eu') })).status);
      expect([...statuses].sort()).toEqual([421, 429]);
    } finally {
      await strict.stop();
    }
  });
});

describe('in the dashboard', () => {
  const path = '/dashboard/api/session';
  const signIn = (service: TestService, body: object) =>
    call(service, 'POST', path, { key: null, headers: { origin: service.url }, body });

  async function newLink(): Promise<string> {
    const { json } = await call(eu, 'POST', '/v1/api_keys', { body: { name: 'Link', scopes: ['read'] } });
    const keyUuid = uuidOfId('key', json.id) ?? '';
    const made = await createLink(eu.db, { ...eu.service, ...commandLine }, keyUuid);
    return made.replace(/^.*#link=/, '');
  }

  test('a session has the label in its cookie, and another cell says where it belongs', async () => {
    const { headers } = await signIn(eu, { api_key: eu.key });
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(cookie).toMatch(/=eu\.[\w-]{43}$/);
    const value = cookie.split('=')[1];
    const sent = (service: TestService) => ({
      cookie: `simplane_session_${new URL(service.url).port}=${value}`,
    });
    const own = await call(eu, 'GET', '/dashboard/api/v1/me', { key: null, headers: sent(eu) });
    expect(own.status).toBe(200);
    for (const where of ['/dashboard/api/v1/me', path]) {
      const other = await call(us, 'GET', where, { key: null, headers: sent(us) });
      expect([other.status, other.json.error]).toEqual([421, expect.objectContaining(wrongCell)]);
    }
  });

  test('a sign-in link has it too', async () => {
    const link = await newLink();
    expect(link).toMatch(/^eu\.[\w-]{43}$/);
    const other = await signIn(us, { link });
    expect([other.status, other.json.error]).toEqual([421, expect.objectContaining(wrongCell)]);
    expect((await signIn(eu, { link })).status).toBe(201);
    expect((await signIn(eu, { link })).json.error.code).toBe('session_expired');
  });

  test('the page names the cell of a key or link in a header, since routers do not read bodies', async () => {
    expect(cellHeader(await newLink())).toEqual({ 'Service-Cell': 'eu' });
    expect(cellHeader(eu.key)).toEqual({ 'Service-Cell': 'eu' });
    for (const none of [first.key, 'sp_test_bench_of_a_sandbox', 'eu.', 'x'])
      expect(cellHeader(none)).toEqual({});
  });
});

test('an install link has the label in its path, and another cell does not say that it has ended', async () => {
  const iccid = await insertEsim(eu);
  const { json } = await call(eu, 'POST', `/v1/esims/${iccid}/install_links`, { body: {} });
  const { pathname } = new URL(json.url);
  expect(pathname).toMatch(/^\/i\/eu\.[\w-]{43}$/);
  expect((await fetch(eu.url + pathname)).status).toBe(200);
  const other = await call(us, 'GET', pathname, { key: null });
  expect([other.status, other.json.error]).toEqual([421, expect.objectContaining(wrongCell)]);
  expect((await fetch(`${us.url}/i/us.${'x'.repeat(43)}`)).status).toBe(404);
});

describe('a cursor', () => {
  const pathsWithCursors = [
    '/v1/products?limit=1',
    '/v1/events/feed?after=start&limit=1',
    '/v1/event_consumers/crm',
  ];

  beforeAll(async () => {
    for (const service of [eu, first]) {
      for (const type of ['a.b', 'a.c'])
        await call(service, 'POST', '/v1/events/test', { body: { type, data: {} } });
      await sequenceEvents(service);
      await call(service, 'PUT', '/v1/event_consumers/crm', { body: { after: 'start' } });
    }
  });

  const cursorsOf = (service: TestService) =>
    Promise.all(
      pathsWithCursors.map(async (path) => {
        const { json } = await call(service, 'GET', path);
        return (json.next_cursor ?? json.cursor) as string;
      }),
    );

  test('has the label of its cell, and none where the cell has none', async () => {
    for (const cursor of await cursorsOf(eu)) expect(cursor).toMatch(/^eu\.[\w-]+$/);
    for (const cursor of await cursorsOf(first)) expect(cursor).toMatch(/^[\w-]+$/);
  });

  test('has it on a stream, in a refusal, and in what a consumer is told', async () => {
    const stream = await openSse(eu, '/v1/events/feed?after=start');
    await expect.poll(() => stream.messages.length).toBe(2);
    expect(stream.blocks[0]).toMatch(/^retry: 1000\nid: eu\./);
    for (const { id } of stream.messages) expect(id).toMatch(/^eu\./);
    const last = stream.lastId();
    stream.close();
    const path = '/v1/event_consumers/crm';
    const acknowledged = await call(eu, 'POST', `${path}/ack`, { body: { cursor: last } });
    expect(acknowledged.json.cursor).toBe(last);
    const [, earlier = ''] = await cursorsOf(eu);
    const { status, json } = await call(eu, 'POST', `${path}/ack`, { body: { cursor: earlier } });
    expect([status, json.error.cursor]).toEqual([409, last]);
  });

  test('works with any label and without one: it came along with its account', async () => {
    const [ofList = '', ofFeed = ''] = await cursorsOf(eu);
    for (const label of ['eu.', 'us.', '']) {
      const list = await call(
        eu,
        'GET',
        `/v1/products?limit=1&starting_after=${ofList.replace('eu.', label)}`,
      );
      const feed = await call(eu, 'GET', `/v1/events/feed?after=${ofFeed.replace('eu.', label)}`);
      expect([label, list.status, list.json.data.length]).toEqual([label, 200, 1]);
      expect([label, feed.status, feed.json.data.length]).toEqual([label, 200, 1]);
    }
    const { json } = await call(eu, 'GET', `/v1/events/feed?after=eu.${ofFeed}`);
    expect(json.error.code).toBe('cursor_invalid');
  });
});

test('a place in the operator’s feed of one cell is none in that of another, which names its oldest', async () => {
  const feedOf = async (service: TestService) => {
    for (let n = 0; n < 3; n++) {
      await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: { n } } });
      await sequenceEvents(service);
    }
    const key = await service.createKey({ scopes: ['operator'] });
    return (query: string) => call(service, 'GET', `/v1/operator/events/feed?${query}`, { key });
  };
  const [inFirst, inUs] = [await feedOf(first), await feedOf(us)];
  const all = (await inUs('after=start')).json.data;
  // The other feed has these positions too, so that only what a cursor carries tells them apart.
  for (const limit of [1, 2]) {
    const { cursor } = (await inFirst(`after=start&limit=${limit}`)).json;
    const { status, json } = await inUs(`after=${cursor}`);
    expect([status, json.error.code]).toEqual([410, 'cursor_expired']);
    expect(json.error.cursor).toMatch(/^us\./);
    expect((await inUs(`after=${json.error.cursor}`)).json.data).toEqual(all);
    expect((await inFirst(`after=${cursor}`)).status).toBe(200);
  }
});

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../server/src/accounts/api-key-text.ts';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { call } from '../../server/test/support/client.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { callTool } from './support/call.ts';
import { connectHttp, currentRevision } from './support/connect.ts';

const product = 'prod_europe_5gb_30d';
const accept = { Accept: 'application/json, text/event-stream' };
const ping = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

let service: TestService;

beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterAll(() => service.stop());

test.each([currentRevision, '2025-11-25', '2025-06-18', '2025-03-26'])(
  'a client with protocol revision %s works',
  async (revision) => {
    const client = await connectHttp(service, { revision });
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('provision_esim');
    const { id } = await callTool(client, 'provision_esim', { product_id: product });
    expect((await callTool(client, 'get_execution', { execution_id: id })).id).toBe(id);
    await client.close();
  },
);

test('a client that negotiates the revision gets the current one', async () => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', service.url), {
      requestInit: { headers: { Authorization: `Bearer ${service.key}` } },
    }),
  );
  expect(client.getNegotiatedProtocolVersion()).toBe(currentRevision);
  await client.close();
});

describe('access control', () => {
  test('a missing or invalid key gets the API’s status, error and header', async () => {
    const revoked = generateApiKey('sandbox');
    for (const key of [null, revoked, 'nonsense', generateApiKey('live')]) {
      const [mcp, api] = [
        await call(service, 'POST', '/mcp', { key, body: ping, headers: accept }),
        await call(service, 'GET', '/v1/me', { key }),
      ];
      expect(mcp.status).toBe(401);
      expect(mcp.headers.get('www-authenticate')).toBe('Bearer');
      expect(mcp.json.error).toEqual({ ...api.json.error, request_id: mcp.headers.get('request-id') });
    }
  });

  test('pages from other origins are refused; programs and local pages are not', async () => {
    const from = (headers: Record<string, string>) =>
      call(service, 'POST', '/mcp', { body: ping, headers: { ...accept, ...headers } });
    for (const origin of [
      'https://evil.example',
      'http://127.0.0.1.evil.example',
      'http://localhost.evil.example:4000',
      'null',
      'http://localhost@evil.example',
      '',
    ]) {
      const { status, json } = await from({ Origin: origin });
      expect([origin, status, json.error?.code]).toEqual([origin, 403, 'origin_not_allowed']);
    }
    // DNS rebinding makes both headers equal, so equality proves nothing.
    const rebound = await from({ Origin: 'http://evil.example:4000', Host: 'evil.example:4000' });
    expect(rebound.status).toBe(403);
    for (const origin of [service.url, 'http://localhost:6274', 'http://[::1]:80']) {
      expect([origin, (await from({ Origin: origin })).status]).toEqual([origin, 200]);
    }
    expect((await from({})).status).toBe(200);
  });

  test('in live mode only the deployment’s own origin is allowed', async () => {
    const live = await startService({ mode: 'live', publicUrl: () => 'https://api.example.com' });
    try {
      const from = async (Origin: string) =>
        (await call(live, 'POST', '/mcp', { body: ping, headers: { ...accept, Origin } })).status;
      expect(await from('http://localhost:6274')).toBe(403);
      expect(await from('https://api.example.com')).toBe(200);
    } finally {
      await live.stop();
    }
  });

  test('the calls of a tool come from the client’s address, by which a key may be limited', async () => {
    const proxied = await startService({ trustedProxies: ['127.0.0.1/32'] });
    try {
      const key = await proxied.createKey({ allowedCidrs: ['203.0.113.0/24'] });
      const client = await connectHttp(
        { url: proxied.url, key },
        { headers: { 'X-Forwarded-For': '203.0.113.7' } },
      );
      expect((await callTool(client, 'list_products', { limit: 1 })).data).toHaveLength(1);
      await client.close();
    } finally {
      await proxied.stop();
    }
  });

  test('there is no stream to GET and no session to DELETE', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers, json } = await call(service, method, '/mcp', { headers: accept });
      expect([status, headers.get('allow'), json.error.code]).toEqual([405, 'POST', 'method_not_allowed']);
    }
  });

  test('bodies that are too large, compressed or not JSON are refused', async () => {
    const send = (raw: string, headers: Record<string, string> = {}) =>
      call(service, 'POST', '/mcp', { raw, headers: { ...accept, ...headers } });
    expect((await send(JSON.stringify({ ...ping, pad: 'x'.repeat(256 * 1024) }))).status).toBe(413);
    expect((await send('{}', { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await send('{}', { 'Content-Encoding': 'gzip' })).status).toBe(415);
    for (const raw of ['{', '', '[]', 'null', '{"jsonrpc":"2.0"}', '"text"']) {
      const { status, json } = await send(raw);
      expect([raw, status, typeof json.error.code]).toEqual([raw, 400, 'number']);
    }
  });

  test.each(['2025-03-26', currentRevision])(
    'texts that responses echo have a length limit (%s)',
    async (revision) => {
      const send = (body: unknown) =>
        call(service, 'POST', '/mcp', { body, headers: { ...accept, 'MCP-Protocol-Version': revision } });
      const long = 'x'.repeat(250_000);
      const versionKey = 'io.modelcontextprotocol/protocolVersion';
      for (const message of [
        { ...ping, id: long },
        { ...ping, method: long },
        { ...ping, method: 'tools/call', params: { name: long } },
        { ...ping, method: 'prompts/get', params: { name: long } },
        { ...ping, method: 'resources/read', params: { uri: `simplane://${long}` } },
        { ...ping, params: { _meta: { progressToken: long } } },
        { ...ping, params: { _meta: { [versionKey]: long } } },
        { ...ping, method: 'initialize', params: { protocolVersion: long } },
        [ping, { ...ping, id: long }],
        Array.from({ length: 11 }, (_, id) => ({ ...ping, id })),
      ]) {
        const { status, text, json } = await send(message);
        expect([status, json?.error.code, json?.id]).toEqual([400, -32600, null]);
        expect(text.length).toBeLessThan(300);
      }
    },
  );

  test('a batch of ten is answered, and names of 256 characters are echoed', async () => {
    const send = (body: unknown) => call(service, 'POST', '/mcp', { body, headers: accept });
    const batch = await send(Array.from({ length: 10 }, (_, id) => ({ ...ping, id })));
    expect([batch.status, batch.text.match(/"tools":/g)?.length]).toEqual([200, 10]);
    const name = 'x'.repeat(256);
    const named = await send({ ...ping, id: name, method: 'tools/call', params: { name } });
    expect(named.text.split(name)).toHaveLength(3);
  });

  test('calls count against the key’s rate limit', async () => {
    const limited = await startService({ rateLimitPerSecond: 1 });
    try {
      const statuses = [];
      for (let n = 0; n < 4; n++)
        statuses.push(
          (await call(limited, 'POST', '/mcp', { body: ping, headers: accept })).headers.get('retry-after'),
        );
      expect(statuses).toContain('1');
    } finally {
      await limited.stop();
    }
  });
});

test('two processes can answer alternately: no state is kept between requests', async () => {
  const other = await startService({ databaseUrl: service.databaseUrl, keyring: service.service.keyring });
  try {
    let requests = 0;
    const alternate: typeof fetch = (url, init) => {
      const target = new URL(String(url));
      target.host = new URL(requests++ % 2 === 0 ? service.url : other.url).host;
      return fetch(target, init);
    };
    for (const revision of [currentRevision, '2025-11-25']) {
      const client = await connectHttp(service, { revision, fetch: alternate });
      const key = `alternate-${revision}`;
      const args = { product_id: product, idempotency_key: key };
      const ids = [];
      for (let n = 0; n < 4; n++) ids.push((await callTool(client, 'provision_esim', args)).id);
      expect(new Set(ids).size).toBe(1);
      await client.close();
    }
  } finally {
    await other.stop();
  }
});

test('every request logs one line, and no line contains a secret', async () => {
  const client = await connectHttp(service);
  const before = service.logLines.length;
  const endpoint = await callTool(client, 'create_webhook_endpoint', {
    url: 'http://127.0.0.1:9/SECRET-PATH',
    enabled_event_types: ['*'],
  });
  const { id } = await callTool(client, 'provision_esim', {
    product_id: product,
    idempotency_key: 'SECRET-KEY',
  });
  const { iccid } = await callTool(client, 'get_execution', { execution_id: id, wait_seconds: 30 });
  const profile = await callTool(client, 'get_install_profile', { iccid });
  await client.close();

  const mine = () => service.logLines.slice(before);
  const lines = await until(
    async () => mine().map((line) => JSON.parse(line)),
    (seen) => seen.some(({ route }) => route === '/v1/esims/:iccid/install'),
  );
  expect(lines).toContainEqual(
    expect.objectContaining({
      method: 'POST',
      route: '/mcp',
      status: 200,
      key_id: expect.stringMatching(/^key_/),
    }),
  );
  expect(lines).toContainEqual(
    expect.objectContaining({ method: 'POST', route: '/v1/webhook_endpoints', status: 201 }),
  );
  for (const { duration_ms } of lines) expect(duration_ms).toBeGreaterThan(0);
  const log = mine().join('');
  for (const secret of [
    endpoint.secret,
    service.key,
    'SECRET-PATH',
    'SECRET-KEY',
    profile.matching_id,
    profile.activation_code,
  ])
    expect(log).not.toContain(secret);
});

test('a waiting client gets progress, and a canceled wait ends', async () => {
  const idle = await startService();
  const client = await connectHttp(idle);
  const { id } = await callTool(client, 'provision_esim', { product_id: product }); // no worker runs it
  const canceling = new AbortController();
  const messages: unknown[] = [];
  const waiting = client.callTool(
    { name: 'get_execution', arguments: { execution_id: id, wait_seconds: 30 } },
    { signal: canceling.signal, onprogress: ({ message }) => void messages.push(message) },
  );
  const canceled = expect(waiting).rejects.toThrow();
  await until(
    async () => messages,
    () => messages.length >= 2,
  );
  expect(messages[0]).toBe(`${id} is queued`);

  canceling.abort();
  await canceled;
  await until(
    async () => idle.logLines.map((line) => JSON.parse(line)),
    (lines) => lines.some(({ route, status }) => route === '/mcp' && status === 499),
  );
  await client.close();
  await idle.stop(); // a wait of 30 s would delay this
});

test('a call ends with its client’s connection, also one that reports no progress', async () => {
  const own = await startService();
  const leaving = new AbortController();
  const leavable: typeof fetch = (url, init) => fetch(url, { ...init, signal: leaving.signal });
  const client = await connectHttp(own, { fetch: leavable });
  const waiting = callTool(client, 'wait_for_event', { type: 'never.comes', wait_seconds: 30 });
  const left = expect(waiting).rejects.toThrow();
  const reads = () =>
    own.logLines.map((line) => JSON.parse(line)).filter(({ route }) => route === '/v1/events/feed');
  await until(
    async () => reads(),
    ({ length }) => length === 1, // the first finds the place to wait at
  );
  leaving.abort();
  await left;
  const [, wait] = await until(
    async () => reads(),
    ({ length }) => length === 2,
  );
  expect(wait.status).toBe(499);
  await client.close().catch(() => {});
  await own.stop();
});

test('a subscription ends at once, as the lists never change, so it takes no room from others', async () => {
  const client = await connectHttp(service);
  const filter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  const subscription = await client.listen({ ...filter, resourceSubscriptions: ['simplane://products'] });
  expect(await subscription.closed).toBe('graceful');
  await client.close();
});

test('at a shutdown a wait returns the current status', async () => {
  const stopping = await startService();
  const client = await connectHttp(stopping);
  const { id } = await callTool(client, 'provision_esim', { product_id: product }); // no worker runs it
  const pollCount = () => stopping.logLines.filter((line) => line.includes('/v1/executions/')).length;
  const waiting = callTool(client, 'get_execution', { execution_id: id, wait_seconds: 30 });
  await until(
    async () => pollCount(),
    (count) => count > 0,
  );

  await stopping.stop();

  expect(await waiting).toMatchObject({ id, status: 'queued' });
  await client.close();
});

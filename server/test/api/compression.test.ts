import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { call, provision } from '../support/client.ts';
import { head, openConnection } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let iccid: string;
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  const order = (await provision(service)).json;
  const done = await until(
    async () => (await call(service, 'GET', `/v1/executions/${order.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  iccid = done.iccid;
  const data = { text: 'x'.repeat(800) };
  for (let i = 0; i < 60; i++) {
    await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: { ...data, i } } });
  }
});
afterAll(() => service.stop());

/** The headers and the undecoded body of a response. */
async function fetchRaw(path: string, encoding: string | null, options: Options = {}) {
  const { method = 'GET', body = '', headers = {} } = options;
  const connection = await openConnection(service.url);
  const given = {
    Authorization: `Bearer ${service.key}`,
    Connection: 'close',
    ...(encoding !== null && { 'Accept-Encoding': encoding }),
    ...(body !== '' && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    ...headers,
  };
  connection.socket.write(head(method, path, given) + body);
  await connection.closed;
  const bytes = connection.received();
  const end = bytes.indexOf('\r\n\r\n');
  const [status = '', ...lines] = bytes.subarray(0, end).toString('latin1').toLowerCase().split('\r\n');
  const fields = new Map(lines.map((line) => line.split(': ', 2) as [string, string]));
  return { status: Number(status.split(' ')[1]), fields, body: bytes.subarray(end + 4) };
}

type Options = { method?: string; body?: string; headers?: Record<string, string> };

const decode = { br: brotliDecompressSync, gzip: gunzipSync };

test.each([
  ['a page of a few kB', '/v1/events?type=a.b&limit=5'],
  ['a page that is compressed outside the main thread', '/v1/events?type=a.b&limit=60'],
])('%s is compressed as asked, with the same contents', async (_, path) => {
  const plain = await fetchRaw(path, null);
  expect(plain.fields.get('content-encoding')).toBeUndefined();
  expect(plain.fields.get('vary')).toBe('accept-encoding');
  expect(plain.body.length).toBeGreaterThanOrEqual(2048);
  for (const encoding of ['br', 'gzip'] as const) {
    const { status, fields, body } = await fetchRaw(path, encoding);
    expect([status, fields.get('content-encoding')]).toEqual([200, encoding]);
    expect(fields.get('vary')).toBe('accept-encoding');
    expect(fields.get('content-length')).toBe(String(body.length));
    expect(decode[encoding](body).equals(plain.body)).toBe(true);
    expect(body.length).toBeLessThan(plain.body.length / 3);
  }
  const refused = await fetchRaw(path, 'br;q=0, gzip;q=0');
  expect(refused.body.equals(plain.body)).toBe(true);
});

test('an answer that also depends on Accept says both', async () => {
  service.startSequencer();
  const { fields } = await until(
    () => fetchRaw('/v1/events/feed?after=start', 'br'),
    ({ fields }) => fields.get('content-encoding') === 'br',
  );
  expect(fields.get('vary')).toBe('accept, accept-encoding');
});

test('an answer below 2 kB is sent as it is', async () => {
  const { fields, body } = await fetchRaw('/v1/me', 'br, gzip');
  expect(body.length).toBeLessThan(2048);
  expect([fields.get('content-encoding'), fields.get('vary')]).toEqual([undefined, undefined]);
  JSON.parse(body.toString());
});

test('an answer of exactly 2 kB is compressed, and one byte less is not', async () => {
  const publish = async (length: number) => {
    const body = { type: 'a.c', data: { text: 'x'.repeat(length) } };
    return (await call(service, 'POST', '/v1/events/test', { body })).json.id as string;
  };
  const get = async (length: number) => fetchRaw(`/v1/events/${await publish(length)}`, 'gzip');
  const rest = (await get(0)).body.length;
  const [below, at] = [await get(2_047 - rest), await get(2_048 - rest)];
  expect([below.body.length, below.fields.get('content-encoding')]).toEqual([2_047, undefined]);
  expect([gunzipSync(at.body).length, at.fields.get('content-encoding')]).toEqual([2_048, 'gzip']);
});

test('HEAD has the headers of GET and no body', async () => {
  const path = '/v1/events?type=a.b&limit=5';
  const get = await fetchRaw(path, 'br');
  const { fields, body } = await fetchRaw(path, 'br', { method: 'HEAD' });
  expect(body.length).toBe(0);
  for (const name of ['content-encoding', 'content-length', 'vary', 'content-type']) {
    expect(fields.get(name)).toBe(get.fields.get(name));
  }
});

test('answers with a secret are never compressed, nor stored by caches', async () => {
  const install = await fetchRaw(`/v1/esims/${iccid}/install`, 'br, gzip');
  const metadata = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, 'v'.repeat(300)]));
  const body = JSON.stringify({ url: 'http://127.0.0.1:9/', enabled_event_types: ['none'], metadata });
  const request = { method: 'POST', body, headers: { 'Idempotency-Key': 'secret-1' } };
  const created = await fetchRaw('/v1/webhook_endpoints', 'br, gzip', request);
  const replayed = await fetchRaw('/v1/webhook_endpoints', 'br, gzip', request);
  expect(created.status).toBe(201);
  for (const answer of [install, created, replayed]) {
    expect(answer.body.length).toBeGreaterThanOrEqual(2048);
    expect(answer.fields.get('content-encoding')).toBeUndefined();
    expect(answer.fields.get('cache-control')).toBe('no-store');
    JSON.parse(answer.body.toString());
  }
});

test('web pages of other origins can read /openapi.json and nothing under /v1', async () => {
  const headers = { Origin: 'https://viewer.example' };
  const document = await call(service, 'GET', '/openapi.json', { key: null, headers });
  expect(document.headers.get('access-control-allow-origin')).toBe('*');
  const preflight = { ...headers, 'Access-Control-Request-Headers': 'authorization' };
  for (const answer of [
    await call(service, 'GET', '/v1/me', { headers }),
    await call(service, 'OPTIONS', '/v1/me', { key: null, headers: preflight }),
    await call(service, 'GET', '/docs', { key: null, headers }),
  ]) {
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  }
});

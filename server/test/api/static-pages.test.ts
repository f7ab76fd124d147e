import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, head, openConnection, send } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const pages = ['/docs', '/openapi.json'];

/** The response's head and undecoded body. */
async function fetchRaw(path: string, headers: Record<string, string> = {}) {
  const connection = await openConnection(service.url);
  connection.socket.write(head('GET', path, { ...headers, Connection: 'close' }));
  await connection.closed;
  const bytes = connection.received();
  const end = bytes.indexOf('\r\n\r\n');
  const [status = '', ...lines] = bytes.subarray(0, end).toString('latin1').toLowerCase().split('\r\n');
  const fields = new Map(lines.map((line) => line.split(': ', 2) as [string, string]));
  return { status: Number(status.split(' ')[1]), fields, body: bytes.subarray(end + 4) };
}

test('the reference runs no script but its own, and no other site shows it in a frame', async () => {
  const { headers, text } = await exchange(service.url, head('GET', '/docs'));
  const policy = headers.get('content-security-policy')?.split('; ');
  const [, script = ''] = /<script>(.*?)<\/script>/s.exec(text) ?? [];
  const hash = createHash('sha256').update(script).digest('base64');
  const expected = ["default-src 'none'", `script-src 'sha256-${hash}'`, "frame-ancestors 'none'"];
  expect(policy).toEqual(expect.arrayContaining(expected));
});

describe.each(pages)('%s', (path) => {
  test.each([
    [undefined, undefined],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['*', 'br'],
    ['identity', undefined],
    ['zstd, br;q=0, gzip;q=0', undefined],
    ['nonsense;;q=,', undefined],
  ])('with Accept-Encoding %j is sent as %j, with the same contents', async (accepted, encoding) => {
    const plain = await fetchRaw(path);
    const { status, fields, body } = await fetchRaw(path, accepted ? { 'Accept-Encoding': accepted } : {});
    expect([status, fields.get('content-encoding')]).toEqual([200, encoding]);
    expect(fields.get('vary')).toBe('accept-encoding');
    expect(fields.get('cache-control')).toBe('no-cache');
    expect(fields.get('content-length')).toBe(String(body.length));
    const decode = { br: brotliDecompressSync, gzip: gunzipSync };
    const contents = encoding ? decode[encoding as 'br' | 'gzip'](body) : body;
    expect(contents.equals(plain.body)).toBe(true);
  });

  test('has an ETag per encoding, and answers 304 when it matches', async () => {
    const tags = new Set<string>();
    for (const encoding of ['identity', 'gzip', 'br']) {
      const headers = { 'Accept-Encoding': encoding };
      const first = await send(service.url, { method: 'GET', path, headers, body: null, chunked: false });
      const etag = first.headers.get('etag') ?? '';
      tags.add(etag);
      for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await exchange(
          service.url,
          head('GET', path, { ...headers, 'If-None-Match': condition }),
        );
        expect(again.status).toBe(304);
        expect(again.headers.get('etag')).toBe(etag);
        expect(again.text).toBe('');
      }
      const other = await exchange(
        service.url,
        head('GET', path, { ...headers, 'If-None-Match': '"other"' }),
      );
      expect(other.status).toBe(200);
    }
    expect(tags.size).toBe(3);
  });
});

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, expect, test, vi } from 'vitest';
import { compressAnswer } from './compress-answer.ts';

type Done = (error: Error | null, bytes: Buffer) => void;

// What the thread pool does: nothing else can make it fail.
const pool = vi.hoisted(() => ({ isBroken: false, calls: 0 }));
vi.mock('node:zlib', async (original) => {
  const zlib = await original<typeof import('node:zlib')>();
  const inPool = (compress: (text: string, options: object, done: Done) => void) => {
    return (text: string, options: object, done: Done) => {
      pool.calls += 1;
      if (pool.isBroken) done(new Error('no memory'), undefined as never);
      else compress(text, options, done);
    };
  };
  return { ...zlib, brotliCompress: inPool(zlib.brotliCompress), gzip: inPool(zlib.gzip) };
});

afterEach(() => void Object.assign(pool, { isBroken: false, calls: 0 }));

/** Compresses an answer of JSON with these headers; returns what is sent. */
async function answer(payload: string, encoding: string, given: Record<string, string> = {}) {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...given };
  const reply = {
    getHeader: (name: string) => headers[name],
    header(name: string, value: string) {
      headers[name.toLowerCase()] = value;
    },
  } as unknown as FastifyReply;
  const request = { headers: { 'accept-encoding': encoding } } as FastifyRequest;
  const bytes = await new Promise<string | Buffer>((done) => compressAnswer(request, reply, payload, done));
  return { bytes, headers };
}

const small = 'x'.repeat(32 * 1024 - 1);
const large = `${small}x`;

test.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)('%s is used as asked, in the thread pool from 32 kB on', async (encoding, read) => {
  for (const [text, calls] of [
    [small, 0],
    [large, 1],
  ] as const) {
    const { bytes, headers } = await answer(text, encoding);
    expect([headers['content-encoding'], pool.calls]).toEqual([encoding, calls]);
    expect(read(bytes as Buffer).toString()).toBe(text);
  }
});

test.each(['br', 'gzip'])('an answer that cannot be compressed by %s is sent as it is', async (encoding) => {
  pool.isBroken = true;
  const { bytes, headers } = await answer(large, encoding);
  expect(bytes).toBe(large);
  expect(headers).toEqual({ 'content-type': 'application/json', vary: 'Accept-Encoding' });
});

test('an answer of another type, or with a secret, is sent as it is', async () => {
  for (const given of [{ 'content-type': 'text/html' }, { 'cache-control': 'no-store' }] as Record<
    string,
    string
  >[]) {
    const { bytes, headers } = await answer(large, 'br', given);
    expect([bytes, headers['content-encoding'], headers['vary']]).toEqual([large, undefined, undefined]);
  }
});

test('the encoding is asked for in any case, and none is used that is not accepted', async () => {
  expect((await answer(small, 'GZIP;Q=0.5')).headers['content-encoding']).toBe('gzip');
  const { bytes, headers } = await answer(small, 'zstd, br;q=0');
  expect([bytes, headers['content-encoding'], headers['vary']]).toEqual([
    small,
    undefined,
    'Accept-Encoding',
  ]);
});

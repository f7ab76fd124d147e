import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { createBodyReader } from './read-body.ts';

const megabyte = 1024 * 1024;

function setUp() {
  let cuts = 0;
  const reader = createBodyReader(() => {
    cuts += 1;
  });
  /** A request from this account whose body is still arriving. */
  function begin(owner: string, headers: Record<string, string> = {}) {
    const request = {
      headers,
      heldBody: null,
      caller: { account: { uuid: owner } },
      routeOptions: { bodyLimit: 4 * megabyte },
    } as unknown as FastifyRequest;
    const payload = new PassThrough();
    const upload = {
      outcome: null as null | Buffer | Error,
      send(bytes: number) {
        payload.emit('data', Buffer.alloc(bytes, owner));
      },
      finish: () => void payload.emit('end'),
      release: () => reader.release(request),
    };
    reader.read(request, payload as unknown as IncomingMessage, (error, body) => {
      upload.outcome = error ?? body ?? null;
    });
    return upload;
  }
  /** A request whose body arrived completely, unless it was refused, and which is not answered yet. */
  function complete(owner: string, bytes: number) {
    const upload = begin(owner);
    upload.send(bytes);
    if (upload.outcome === null) upload.finish();
    return upload;
  }
  return { begin, complete, cuts: () => cuts };
}

test('unfinished bodies of the account that holds most are cut, oldest first', () => {
  const { begin, cuts } = setUp();
  const honest = begin('h');
  honest.send(megabyte);
  const hostile = Array.from({ length: 60 }, () => {
    const upload = begin('x');
    upload.send(4 * megabyte);
    return upload;
  });
  expect(hostile.map(({ outcome }) => outcome !== null).lastIndexOf(true)).toBe(55);
  expect(hostile.filter(({ outcome }) => outcome === null)).toHaveLength(4);
  expect(hostile[0]?.outcome).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });
  expect(cuts()).toBe(56);
  honest.send(2 * megabyte);
  honest.finish();
  expect(Buffer.alloc(3 * megabyte, 'h').equals(honest.outcome as Buffer)).toBe(true);
});

test('complete bodies of one account take at most half of the budget', () => {
  const { begin, complete } = setUp();
  const running = Array.from({ length: 8 }, () => complete('a', 4 * megabyte));
  const isTaken = running.map(({ outcome }) => outcome instanceof Buffer);
  expect(isTaken).toEqual([true, true, true, true, false, false, false, false]);
  expect(running[4]?.outcome).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });

  const others = Array.from({ length: 4 }, () => complete('b', 4 * megabyte));
  expect(others.every(({ outcome }) => outcome instanceof Buffer)).toBe(true);

  const late = begin('c'); // complete bodies of two accounts use the whole budget
  late.send(megabyte);
  expect(late.outcome).toMatchObject({ code: 'unavailable' });
  running[0]?.release();
  expect(complete('c', megabyte).outcome).toBeInstanceOf(Buffer);
  expect(complete('a', 3 * megabyte).outcome).toBeInstanceOf(Buffer);
});

test('complete bodies count when choosing the account that holds most', () => {
  const { begin, complete } = setUp();
  const begun = (owner: string, bytes: number) => {
    const upload = begin(owner);
    upload.send(bytes);
    return upload;
  };
  for (let i = 0; i < 3; i++) complete('a', 4 * megabyte);
  const largest = begun('a', 3 * megabyte); // 15 MB with the complete ones
  const others = [4, 4, 4].map((size) => begun('b', size * megabyte)); // 12 MB, all of it unfinished
  const last = begun('c', 4 * megabyte);
  const extra = begun('c', megabyte); // 32 MB in total
  expect([largest, ...others, last, extra].every(({ outcome }) => outcome === null)).toBe(true);
  extra.send(megabyte);
  expect(largest.outcome).toMatchObject({ code: 'unavailable' });
  expect([...others, last, extra].every(({ outcome }) => outcome === null)).toBe(true);
});

test('small bodies do not count toward the budget, however they are split', () => {
  const { begin, cuts } = setUp();
  const small = Array.from({ length: 2_000 }, () => {
    const upload = begin('s');
    for (let i = 0; i < 10; i++) upload.send(100);
    return upload;
  });
  for (const { finish } of small) finish();
  expect(
    small.every(({ outcome }) => outcome instanceof Buffer && outcome.equals(Buffer.alloc(1_000, 's'))),
  ).toBe(true);
  expect(cuts()).toBe(0);
});

test('a body that grows from small to large keeps its order', () => {
  const { begin } = setUp();
  const sizes = [1, 5_000, 11_382, 1, 64 * 1024, 3, 200_000];
  const upload = begin('m');
  for (const size of sizes) upload.send(size);
  upload.finish();
  expect(upload.outcome).toEqual(
    Buffer.alloc(
      sizes.reduce((sum, size) => sum + size),
      'm',
    ),
  );
});

test('a body over the limit, or shorter than its Content-Length, is refused', () => {
  const { begin } = setUp();
  expect(begin('a', { 'content-length': String(5 * megabyte) }).outcome).toMatchObject({
    code: 'body_too_large',
  });
  const endless = begin('a');
  for (let i = 0; i < 5; i++) endless.send(megabyte);
  expect(endless.outcome).toMatchObject({ code: 'body_too_large' });
  const short = begin('a', { 'content-length': '10' });
  short.send(5);
  short.finish();
  expect(short.outcome).toMatchObject({ code: 'request_malformed' });
});

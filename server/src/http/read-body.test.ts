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
  /** A request of this account whose body is under way. */
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
  return { begin, cuts: () => cuts };
}

test('half-sent bodies of one account give way, the oldest first, and those of another stay', () => {
  const { begin, cuts } = setUp();
  const honest = begin('h');
  honest.send(megabyte);
  const hostile = Array.from({ length: 60 }, () => {
    const upload = begin('x');
    upload.send(4 * megabyte);
    return upload;
  });
  expect(hostile.map(({ outcome }) => outcome !== null).lastIndexOf(true)).toBe(52);
  expect(hostile.filter(({ outcome }) => outcome === null)).toHaveLength(7);
  expect(hostile[0]?.outcome).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });
  expect(cuts()).toBe(53);
  honest.send(2 * megabyte);
  honest.finish();
  expect(honest.outcome).toEqual(Buffer.alloc(3 * megabyte, 'h'));
});

test('whole bodies are never cut, and while their requests run the next ones wait', () => {
  const { begin } = setUp();
  const whole = Array.from({ length: 8 }, () => {
    const upload = begin('a');
    upload.send(4 * megabyte);
    upload.finish();
    return upload;
  });
  const late = begin('b');
  late.send(megabyte);
  expect(late.outcome).toMatchObject({ code: 'unavailable' });
  expect(whole.every(({ outcome }) => outcome instanceof Buffer)).toBe(true);
  whole[0]?.release();
  const next = begin('b');
  next.send(megabyte);
  next.finish();
  expect(next.outcome).toEqual(Buffer.alloc(megabyte, 'b'));
});

test('small bodies take no room, in whatever pieces they come', () => {
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

test('a body that grows from small to large is put together in order', () => {
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

test('a body longer than the limit, or not as long as announced, is refused', () => {
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

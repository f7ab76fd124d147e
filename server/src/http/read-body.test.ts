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
  /** A request whose body is whole, unless it was refused, and which is not answered yet. */
  function whole(owner: string, bytes: number) {
    const upload = begin(owner);
    upload.send(bytes);
    if (upload.outcome === null) upload.finish();
    return upload;
  }
  return { begin, whole, cuts: () => cuts };
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
  expect(hostile.map(({ outcome }) => outcome !== null).lastIndexOf(true)).toBe(55);
  expect(hostile.filter(({ outcome }) => outcome === null)).toHaveLength(4);
  expect(hostile[0]?.outcome).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });
  expect(cuts()).toBe(56);
  honest.send(2 * megabyte);
  honest.finish();
  expect(Buffer.alloc(3 * megabyte, 'h').equals(honest.outcome as Buffer)).toBe(true);
});

test('whole bodies of one account take half of the room, and leave the rest to others', () => {
  const { begin, whole } = setUp();
  const running = Array.from({ length: 8 }, () => whole('a', 4 * megabyte));
  const isTaken = running.map(({ outcome }) => outcome instanceof Buffer);
  expect(isTaken).toEqual([true, true, true, true, false, false, false, false]);
  expect(running[4]?.outcome).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });

  const others = Array.from({ length: 4 }, () => whole('b', 4 * megabyte));
  expect(others.every(({ outcome }) => outcome instanceof Buffer)).toBe(true);

  const late = begin('c'); // two accounts have it all, in bodies that are whole
  late.send(megabyte);
  expect(late.outcome).toMatchObject({ code: 'unavailable' });
  running[0]?.release();
  expect(whole('c', megabyte).outcome).toBeInstanceOf(Buffer);
  expect(whole('a', 3 * megabyte).outcome).toBeInstanceOf(Buffer);
});

test('who holds most in all gives way, even if most of it is whole', () => {
  const { begin, whole } = setUp();
  const begun = (owner: string, bytes: number) => {
    const upload = begin(owner);
    upload.send(bytes);
    return upload;
  };
  for (let i = 0; i < 3; i++) whole('a', 4 * megabyte);
  const largest = begun('a', 3 * megabyte); // 15 MB with the whole ones
  const others = [4, 4, 4].map((size) => begun('b', size * megabyte)); // 12 MB, all of it unfinished
  const last = begun('c', 4 * megabyte);
  const extra = begun('c', megabyte); // 32 MB in all
  expect([largest, ...others, last, extra].every(({ outcome }) => outcome === null)).toBe(true);
  extra.send(megabyte);
  expect(largest.outcome).toMatchObject({ code: 'unavailable' });
  expect([...others, last, extra].every(({ outcome }) => outcome === null)).toBe(true);
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

import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { ignoreEmptyBody } from './empty-body.ts';

/** A request whose body arrives in these parts, after it was asked for. What was not read of it can be read afterwards. */
async function prepared(headers: Record<string, string>, parts: string[] = [], method = 'POST') {
  const body = new PassThrough();
  const request = Object.assign(body, { method, headers: { ...headers } }) as unknown as IncomingMessage;
  const waiting = ignoreEmptyBody(request);
  for (const part of parts) body.write(part);
  body.end();
  await waiting;
  return { headers: request.headers, isWaitedFor: waiting !== null, rest: () => body.read()?.toString() };
}

const json = { 'content-type': 'application/json; charset=utf-8' };
const text = { 'content-type': 'text/plain' };
const chunked = { 'transfer-encoding': 'chunked' };

test('a body without a byte is none, whatever its headers say', async () => {
  expect(await prepared({ ...text, 'content-length': '0' })).toMatchObject({
    headers: { 'content-length': '0' },
    isWaitedFor: false,
  });
  expect((await prepared(text)).headers).toEqual({});
  expect((await prepared({ ...text, ...chunked })).headers).toEqual({});
  expect((await prepared(chunked)).headers).toEqual({});
});

test('a body of another type keeps its headers, so that it is refused', async () => {
  expect((await prepared({ ...text, ...chunked }, ['a', 'b'])).headers).toEqual({ ...text, ...chunked });
  expect((await prepared({ ...text, 'content-length': '2' }, ['ab'])).headers).toMatchObject(text);
});

test('a body of JSON is left to its parser, whole', async () => {
  const order = await prepared({ ...json, ...chunked }, ['{"product_id":', '"prod_us_1gb_7d"}']);
  expect(order).toMatchObject({ headers: { ...json, ...chunked }, isWaitedFor: false });
  expect(order.rest()).toBe('{"product_id":"prod_us_1gb_7d"}');
});

test('a read has no body to wait for', async () => {
  for (const method of ['GET', 'HEAD'])
    expect(await prepared({ ...text, ...chunked }, ['a'], method)).toMatchObject({ isWaitedFor: false });
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiError, CursorExpiredError, createSimplane, InvalidRequestError } from '../src/index.ts';
import { json, refusal, type ScriptedServer, startScriptedServer } from './support/scripted-server.ts';

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.stop());

const page = { object: 'event_feed', data: [], cursor: 'c1', caught_up: true };

test('a request that waits for an event is not cut off by the timeout of an attempt', async () => {
  server.script = [(response, request) => setTimeout(() => json(page)(response, request), 500)];
  const simplane = createSimplane({ apiKey: 'x', baseUrl: server.url, attemptTimeoutMs: 50, timeoutMs: 50 });
  expect(await simplane.events.feed({ after: 'c0', wait: 20, type: ['esim.*', 'bundle.*'] })).toEqual(page);
  const raw = { method: 'GET', path: '/v1/events/feed', query: { wait: 20 } };
  expect(await simplane.request(raw)).toEqual(page);
  expect(server.requests.map(({ line }) => line)).toEqual([
    'GET /v1/events/feed?after=c0&wait=20&type=esim.*,bundle.*',
    'GET /v1/events/feed?wait=20',
  ]);
});

test('an expired cursor is an error of its own class that has the oldest cursor', async () => {
  const type = 'invalid_request_error';
  server.script = [refusal(410, { type, code: 'cursor_expired', cursor: 'oldest' })];
  const simplane = createSimplane({ apiKey: 'x', baseUrl: server.url });
  const error = await simplane.events.feed({ after: 'c0' }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(CursorExpiredError);
  expect(error).toBeInstanceOf(InvalidRequestError);
  expect(error).toMatchObject({ code: 'cursor_expired', cursor: 'oldest', name: 'CursorExpiredError' });
});

test('a cursor behind the consumer is an error that has the consumer’s cursor', async () => {
  server.script = [refusal(409, { type: 'conflict_error', code: 'cursor_behind', cursor: 'c9' })];
  const simplane = createSimplane({ apiKey: 'x', baseUrl: server.url });
  const error = await simplane.consumers.ack('billing', { cursor: 'c1' }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 'cursor_behind', cursor: 'c9' });
});

import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSimplane } from '../../sdk/src/index.ts';
import {
  blockOf,
  json,
  refusal,
  type ScriptedServer,
  startScriptedServer,
  streamOf,
} from '../../sdk/test/support/scripted-server.ts';
import { until } from '../../server/test/support/until.ts';
import { followWhileVisible } from '../src/live/follow.ts';

let server: ScriptedServer;
let states: string[];
let events: string[];
let stop: () => void;

beforeEach(async () => {
  server = await startScriptedServer();
  [states, events] = [[], []];
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
});
afterEach(async () => {
  stop();
  vi.unstubAllGlobals();
  await server.stop();
});

// No request ends by itself while a test waits.
const options = { apiKey: 'x', maxRetries: 0, attemptTimeoutMs: 60_000 };

function follow(): void {
  stop = followWhileVisible({
    connect: (onResponse) => createSimplane({ ...options, baseUrl: server.url, onResponse }),
    onState: (state) => state !== states.at(-1) && states.push(state),
    onEvent: ({ id }) => events.push(id),
  });
}

const html = (response: ServerResponse) => response.setHeader('content-type', 'text/html').end('<p>A proxy.');
const end = json({ object: 'event_feed', data: [], cursor: 'c0', caught_up: true });
const hasEvents = (count: number) =>
  until(
    async () => events.length,
    (length) => length === count,
  );

const closed = () =>
  until(
    async () => server.open,
    (open) => open === 0,
    30_000,
  );
/** The `after` of each request. */
const places = () =>
  server.requests.map(({ line }) => new URL(`http://x${line.split(' ')[1]}`).searchParams.get('after'));

function setHidden(hidden: boolean): void {
  Object.assign(document, { hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}

test('a connection that is lost after it was open is shown as lost, until it is back', async () => {
  const down = refusal(503, { type: 'api_error', code: 'unavailable' });
  server.script = [end, streamOf(blockOf(1), 'break'), down, streamOf(blockOf(2))];
  follow();
  await hasEvents(2);
  expect(states).toEqual(['live', 'lost', 'live']);
  expect(events).toEqual(['evt_1', 'evt_2']);
});

test('a place that has expired is given up for the end of the feed', async () => {
  const expired = refusal(410, { type: 'invalid_request_error', code: 'cursor_expired', cursor: 'c9' });
  server.script = [end, expired, end, streamOf(blockOf(1))];
  follow();
  await hasEvents(1);
  expect(states).toEqual(['live', 'lost', 'live']);
  expect(places()).toEqual(['now', 'c0', 'now', 'c0']);
  const [, refused, next] = server.requests.map(({ atMs }) => atMs);
  expect((next ?? 0) - (refused ?? 0)).toBeGreaterThan(1_900);
});

test('an answer that is no stream is shown as lost, although it came', async () => {
  server.script = [end, html, streamOf(blockOf(1))];
  follow();
  await hasEvents(1);
  expect(states).toEqual(['live', 'lost', 'live']);
});

test('a hidden tab reads nothing, and one that is shown again continues after the last event, with one stream', async () => {
  server.script = [end, streamOf(blockOf(1)), streamOf(blockOf(2))];
  follow();
  await hasEvents(1);
  setHidden(false); // it is shown already
  setHidden(true);
  await closed();
  setHidden(false);
  await hasEvents(2);
  expect(places()).toEqual(['now', 'c0', 'c1']);
  expect(events).toEqual(['evt_1', 'evt_2']);
  expect(states).toEqual(['live', 'paused', 'live']);
});

test('a tab that is hidden while it connects is paused, not lost, and misses no event', async () => {
  let isAsked = false;
  const silent = () => {
    isAsked = true;
  };
  server.script = [end, silent, streamOf(blockOf(1))];
  follow();
  await until(
    async () => isAsked,
    (asked) => asked,
  );
  setHidden(true);
  await closed();
  setHidden(false);
  await hasEvents(1);
  expect(places()).toEqual(['now', 'c0', 'c0']);
  expect(states).toEqual(['live', 'paused', 'live']);
});

test('a tab that is hidden while it asks for its place gives up the request, and is paused, not lost', async () => {
  server.script = [() => {}, end, streamOf(blockOf(1))];
  follow();
  await until(
    async () => server.open,
    (open) => open === 1,
  );
  setHidden(true);
  await closed();
  setHidden(false);
  await hasEvents(1);
  expect(states).toEqual(['paused', 'live']);
});

test('a page that was left closes its stream, and follows nothing when its tab is shown again', async () => {
  server.script = [end, streamOf(blockOf(1))];
  follow();
  await hasEvents(1);
  stop();
  await closed();
  setHidden(false);
  expect(states).toEqual(['live']);
  expect(places()).toEqual(['now', 'c0']);
});

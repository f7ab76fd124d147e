import { getEventListeners } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookEvent } from '@simplane/sdk';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Attempt, forward } from './forward.ts';
import { post } from './post.ts';
import { createSecret, isSecret } from './sign.ts';

let server: Server;
let target: URL;
let times: number[];
let answer: (response: ServerResponse, number: number) => void;
beforeEach(async () => {
  times = [];
  server = createServer((_, response) => answer(response, times.push(performance.now())));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  target = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(() => {
  vi.useRealTimers();
  server.closeAllConnections();
  server.close();
});

const never = new AbortController().signal;
const send = () => post(target, { headers: {}, body: '{}' }, never);

test('an app that redirects has not accepted the event, and gets it again after a pause', async () => {
  answer = (response, number) =>
    response.writeHead(number === 1 ? 302 : 299, { location: '/elsewhere' }).end();
  const attempts: Attempt[] = [];
  const onAttempt = (attempt: Attempt) => void attempts.push(attempt);
  const event = { id: 'evt_1' } as WebhookEvent;
  const options = { target, secret: createSecret(), userAgent: 'test', signal: never, onAttempt };
  expect(await forward(event, { ...options, retryDelaysMs: [300, 300] })).toBe(true);
  expect(attempts.map(({ status, isSuccess }) => [status, isSuccess])).toEqual([
    [302, false],
    [299, true],
  ]);
  expect((times[1] as number) - (times[0] as number)).toBeGreaterThan(250);
});

test('the status of an answer that does not end counts once 64 KB are read', async () => {
  answer = (response) => response.writeHead(200).write(Buffer.alloc(70_000));
  expect(await send()).toMatchObject({ status: 200, failure: null });
});

test('an app that does not answer is given up after 15 seconds', async () => {
  answer = () => {};
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const sent = send();
  vi.advanceTimersByTime(15_000);
  expect(await sent).toMatchObject({ status: null, failure: 'no answer in 15 s' });
}, 30_000);

test('a signing secret is whsec_ and base64, whole', () => {
  const secret = createSecret();
  expect(isSecret(secret)).toBe(true);
  for (const wrong of [`${secret}?`, `x${secret}`, secret.slice(0, -1), secret.slice(6), 'whsec_'])
    expect(isSecret(wrong), wrong).toBe(false);
});

test('an event whose last attempt was stopped is not done', async () => {
  const stop = new AbortController();
  answer = () => stop.abort();
  const attempts: Attempt[] = [];
  const isDone = await forward({ id: 'evt_1' } as WebhookEvent, {
    ...{ target, secret: createSecret(), userAgent: 'test', signal: stop.signal, retryDelaysMs: [] },
    onAttempt: (attempt) => void attempts.push(attempt),
  });
  expect([isDone, attempts]).toEqual([false, []]);
});

test('a stop that was never asked for keeps nothing of the events that were sent', async () => {
  answer = (response) => response.end();
  const { signal } = new AbortController();
  for (let count = 0; count < 3; count++) await post(target, { headers: {}, body: '{}' }, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

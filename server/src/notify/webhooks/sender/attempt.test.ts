import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAccountAgents } from '../guard/account-agents.ts';
import { createGuardedAgent, type GuardedRequest } from '../guard/connector.ts';
import { type AttemptResult, attempt, parseUrl } from './attempt.ts';

const policy = { allowsHttp: true, allowsPrivate: true, allowedCidrs: [] };

let server: Server;
let url: string;
let slowRequests: number;
let paths: (string | undefined)[];
let endSlow: () => void;
beforeEach(async () => {
  [slowRequests, paths] = [0, []];
  server = createServer((request, response) => {
    paths.push(request.url);
    if (request.url !== '/slow') return response.end();
    slowRequests += 1;
    endSlow = () => response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function post(agent: Agent, path: string, timeoutMs: number, mayShowResponse = () => false) {
  const stopping = new AbortController().signal;
  const request = { url: url + path, addresses: ['127.0.0.1'], headers: {}, body: '{}', dispatcher: agent };
  return attempt({ ...request, mayShowResponse, timeoutMs, stopping, nowMs: 0 });
}

function oneConnection(): Agent {
  return createGuardedAgent(policy, { connections: 1 });
}

test('an attempt that never gets a connection does not count against its endpoint', async () => {
  const agent = oneConnection();
  const slow = post(agent, '/slow', 60_000);
  await expect.poll(() => slowRequests).toBe(1);
  expect(await post(agent, '/good', 300)).toEqual({ unsent: expect.any(String), isFault: false });
  await agent.destroy();
  expect(await slow).toMatchObject({ ok: false });
});

test('what timed out while it waited for a connection is not sent when one is free', async () => {
  const agent = oneConnection();
  const slow = post(agent, '/slow', 60_000);
  await expect.poll(() => slowRequests).toBe(1);
  expect(await post(agent, '/late', 300)).toMatchObject({ isFault: false });
  endSlow();
  expect(await slow).toMatchObject({ ok: true });
  expect(await post(agent, '/next', 60_000)).toMatchObject({ ok: true });
  expect(paths).toEqual(['/slow', '/next']);
  await agent.destroy();
});

test.each(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'])(
  'an attempt that fails with %s, for lack of something in this process, does not count against its endpoint',
  async (code) => {
    const dispatch = (_: unknown, handler: Dispatcher.DispatchHandler) => {
      const error = Object.assign(new Error('no descriptor'), { code });
      handler.onResponseError?.({} as Dispatcher.DispatchController, error);
      return true;
    };
    expect(await post({ dispatch } as unknown as Agent, '/any', 60_000)).toEqual({
      unsent: expect.stringContaining(code),
      isFault: true,
    });
  },
);

test('a slow receiver never blocks another account’s connections to the same host', async () => {
  const agents = createAccountAgents(oneConnection);
  const slow = post(agents.agentOf('one'), '/slow', 60_000);
  await expect.poll(() => slowRequests).toBe(1);
  expect(await post(agents.agentOf('other'), '/good', 60_000)).toMatchObject({ ok: true });
  await agents.destroy();
  await slow;
});

test('beyond the limit the least recently used agent is closed after its requests finish', async () => {
  const agents = createAccountAgents(oneConnection, 2);
  const [first, second] = [agents.agentOf('first'), agents.agentOf('second')];
  expect(agents.agentOf('first')).toBe(first);
  const sending = post(second, '/good', 60_000);
  agents.agentOf('third');
  expect(await sending).toMatchObject({ ok: true });
  expect(agents.agentOf('first')).toBe(first);
  expect(agents.agentOf('second')).not.toBe(second);
  await agents.destroy();
});

test('a response is not cut off for what its connection has carried before', async () => {
  vi.useFakeTimers();
  try {
    let handler: Dispatcher.DispatchHandler = {};
    let bytesRead = 600_000;
    const controller = { abort: () => {} } as unknown as Dispatcher.DispatchController;
    const dispatcher = {
      dispatch(request: GuardedRequest, given: Dispatcher.DispatchHandler) {
        handler = given;
        request.onPeer?.({ address: () => '127.0.0.1', bytesRead: () => bytesRead });
        given.onRequestStart?.(controller, {});
        return true;
      },
    };
    const [first, second] = [0, 1].map(() => post(dispatcher as unknown as Agent, '/', 60_000));
    bytesRead += 500_000;
    await vi.advanceTimersByTimeAsync(1_000);
    handler.onResponseStart?.(controller, 200, {}, 'OK');
    handler.onResponseEnd?.(controller, {});
    expect(await second).toMatchObject({ ok: true, statusCode: 200 });
    bytesRead += 100_000;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await first).toMatchObject({ ok: false, error: 'response too long' });
  } finally {
    vi.useRealTimers();
  }
});

/** Receives a response in these parts, and returns what is kept of it. */
async function excerptOf(parts: Buffer[]): Promise<string | null> {
  const controller = { abort: () => {} } as unknown as Dispatcher.DispatchController;
  const dispatch = (request: GuardedRequest, handler: Dispatcher.DispatchHandler) => {
    request.onPeer?.({ address: () => '192.0.2.1', bytesRead: () => 0 });
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 200, {});
    for (const part of parts) handler.onResponseData?.(controller, part);
    handler.onResponseEnd?.(controller, {});
    return true;
  };
  const result = await post({ dispatch } as unknown as Agent, '/', 1_000, () => true);
  return (result as AttemptResult).excerpt;
}

test('the first kilobyte of a response is kept, however it arrives', async () => {
  const parts = [1_000, 60_000].map((length) => Buffer.alloc(length, 'a'));
  expect(await excerptOf(parts)).toBe('a'.repeat(1_024));
});

test('a NUL in a response, which PostgreSQL cannot store, is left out', async () => {
  expect(await excerptOf([Buffer.from('be\u0000fore')])).toBe('before');
  expect(await excerptOf([Buffer.from('\u0000')])).toBeNull();
});

test('an attempt ends when its response is longer than 64 KB, and reads no more', async () => {
  const abort = vi.fn();
  const controller = { abort } as unknown as Dispatcher.DispatchController;
  const dispatch = (_: unknown, handler: Dispatcher.DispatchHandler) => {
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 200, {});
    handler.onResponseData?.(controller, Buffer.alloc(64 * 1024));
    expect(abort).not.toHaveBeenCalled();
    handler.onResponseData?.(controller, Buffer.alloc(1));
    return true;
  };
  expect(await post({ dispatch } as unknown as Agent, '/', 1_000)).toMatchObject({ ok: true });
  expect(abort).toHaveBeenCalledOnce();
});

test('of several Retry-After headers the first counts', async () => {
  server.removeAllListeners('request');
  server.on('request', (_request, response) => {
    response.writeHead(503, ['Retry-After', '7', 'Retry-After', '90']).end();
  });
  const agent = oneConnection();
  expect(await post(agent, '/', 60_000)).toMatchObject({ statusCode: 503, retryAfterMs: 7_000 });
  await agent.destroy();
});

test('the parts of a thousand addresses are remembered, and then those known longest are forgotten', () => {
  const urls = Array.from({ length: 1_000 }, (_, n) => `https://receiver.example/${n}?a=b`);
  const [first, second] = urls.map(parseUrl);
  expect(first).toEqual({ origin: 'https://receiver.example', hostname: 'receiver.example', path: '/0?a=b' });
  expect(parseUrl('https://receiver.example/0?a=b')).toBe(first);
  parseUrl('https://[2001:db8::1]:8443/');
  expect(parseUrl('https://receiver.example/1?a=b')).toBe(second);
  expect(parseUrl('https://receiver.example/0?a=b')).not.toBe(first);
  expect(parseUrl('https://[2001:db8::1]:8443/').hostname).toBe('2001:db8::1');
});

test('an attempt that has ended leaves no timer behind, and a later stop changes nothing of it', async () => {
  vi.useFakeTimers();
  try {
    const [abort, stopping] = [vi.fn(), new AbortController()];
    const controller = { abort } as unknown as Dispatcher.DispatchController;
    const dispatch = (_: unknown, handler: Dispatcher.DispatchHandler) => {
      handler.onRequestStart?.(controller, {});
      handler.onResponseStart?.(controller, 200, {});
      handler.onResponseEnd?.(controller, {});
      return true;
    };
    const request = { url, addresses: ['127.0.0.1'], headers: {}, body: '{}', mayShowResponse: () => false };
    const given = { timeoutMs: 60_000, nowMs: 0, stopping: stopping.signal };
    await attempt({ ...request, ...given, dispatcher: { dispatch } as unknown as Agent });
    expect(vi.getTimerCount()).toBe(0);
    stopping.abort();
    expect(abort).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});

test('an attempt that begins after the stop sends nothing', async () => {
  const dispatch = vi.fn();
  const request = { url, addresses: ['127.0.0.1'], headers: {}, body: '{}', mayShowResponse: () => false };
  const times = { timeoutMs: 60_000, nowMs: 0, stopping: AbortSignal.abort() };
  const result = await attempt({ ...request, ...times, dispatcher: { dispatch } as unknown as Agent });
  expect(result).toMatchObject({ ok: false, error: 'stopped' });
  expect(dispatch).not.toHaveBeenCalled();
});

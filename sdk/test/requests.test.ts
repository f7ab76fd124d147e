import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stopServer } from '../../server/test/support/stop-server.ts';
import { ApiError, createSimplane, type HookRequest, type HookResponse } from '../src/index.ts';
import { startRedirectingServer } from './support/redirecting-server.ts';

const apiKey = 'sp_test_very_secret_key';

/** Answers with the planned statuses, then with 200. Status 0 closes the connection. */
let plan: number[] = [];
let received: IncomingHttpHeaders[] = [];
const server = createServer((request, response) => {
  received.push(request.headers);
  const status = plan.shift() ?? 200;
  if (status === 0) return request.socket.destroy();
  response.writeHead(status, { 'request-id': `req_${received.length}`, 'retry-after': '0' }).end('{}');
});
let baseUrl = '';

beforeEach(async () => {
  [plan, received] = [[], []];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => stopServer(server));

test('every request names the SDK and its version', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  await createSimplane({ apiKey, baseUrl }).me();
  expect(received[0]?.['user-agent']).toBe(`simplane-node/${version}`);
});

test('a key with a line break is refused without being named; one that ends with it, as read from a file, is sent', async () => {
  const refused = () => createSimplane({ apiKey: `${apiKey}\n${apiKey}`, baseUrl });
  expect(refused).toThrow('The API key is malformed');
  expect(refused).not.toThrow(apiKey);
  await createSimplane({ apiKey: `${apiKey}\n`, baseUrl }).me();
  expect(received[0]?.authorization).toBe(`Bearer ${apiKey}`);
});

describe('hooks', () => {
  test('see every attempt with its outcome, and neither the key nor the body', async () => {
    plan = [500, 0];
    const requests: HookRequest[] = [];
    const responses: HookResponse[] = [];
    const simplane = createSimplane({
      apiKey,
      baseUrl,
      onRequest: (info) => requests.push(info),
      onResponse: (info) => responses.push(info),
    });
    await simplane.esims.create(
      { product_id: 'p', confirmation_code: 'SECRET-CODE' },
      { idempotencyKey: 'order-1' },
    );
    const info = (attempt: number) => ({
      method: 'POST',
      url: `${baseUrl}/v1/esims`,
      attempt,
      idempotencyKey: 'order-1',
    });
    expect(requests).toEqual([info(1), info(2), info(3)]);
    const durationMs = expect.any(Number);
    expect(responses).toEqual([
      { ...info(1), status: 500, requestId: 'req_1', durationMs, error: undefined },
      { ...info(2), status: undefined, requestId: undefined, durationMs, error: expect.any(Error) },
      { ...info(3), status: 200, requestId: 'req_3', durationMs, error: undefined },
    ]);
    const { inspect } = await import('node:util');
    const shown = inspect([requests, responses], { depth: Infinity, showHidden: true });
    expect(shown).not.toContain(apiKey);
    expect(shown).not.toContain('SECRET-CODE');
  });

  test('that throw or reject do not affect the call', async () => {
    const simplane = createSimplane({
      apiKey,
      baseUrl,
      onRequest: () => {
        throw new Error('a broken logger');
      },
      onResponse: () => Promise.reject(new Error('a broken logger')),
    });
    expect(await simplane.me()).toEqual({});
    expect(received).toHaveLength(1);
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])(
    '(%i) is refused at once, and the target gets nothing',
    async (status) => {
      const redirecting = await startRedirectingServer(`${baseUrl}/v1/me?token=SECRET`, status);
      try {
        const simplane = createSimplane({ apiKey, baseUrl: redirecting.url });
        const error = await simplane.me().catch((error: unknown) => error);
        expect(error).toBeInstanceOf(ApiError);
        expect(error).toMatchObject({ status, code: undefined });
        expect(String(error)).toContain(`was redirected to ${baseUrl} (HTTP ${status}).`);
        expect(String(error)).toContain('Set baseUrl');
        expect(String(error)).not.toContain('SECRET');
        expect([redirecting.requests, received.length]).toEqual([1, 0]);
      } finally {
        await redirecting.stop();
      }
    },
  );

  test('whose response is hidden, as in browsers, is refused too', async () => {
    const opaque = { status: 0, type: 'opaqueredirect', headers: new Headers(), arrayBuffer: async () => [] };
    const simplane = createSimplane({ apiKey, fetch: async () => opaque as unknown as Response });
    await expect(simplane.me()).rejects.toThrow('GET /v1/me was redirected. The SDK follows no redirect');
  });
});

test('a raw request whose path does not begin with / is refused: after the base URL it could name another server', async () => {
  const simplane = createSimplane({ apiKey, baseUrl });
  for (const path of ['@other.example/v1/me', '.other.example/v1/me', '']) {
    await expect(simplane.request({ method: 'GET', path })).rejects.toThrow('path must begin with /');
  }
  expect(received).toEqual([]);
});

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('an address that asks again at once after each refusal is answered slowly, and a client beside it at once', async () => {
  const stopping = new AbortController();
  let refused = 0;
  const attacker = async () => {
    while (!stopping.signal.aborted) {
      const { status } = await call(service, 'GET', '/v1/me', { key: 'sp_test_unknown' });
      expect([401, 429]).toContain(status);
      refused += 1;
    }
  };
  const startedMs = performance.now();
  const attackers = Array.from({ length: 50 }, attacker);
  while (refused < 140) {
    const { status } = await call(service, 'GET', '/v1/me');
    expect(status).toBe(200);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  stopping.abort();
  await Promise.all(attackers);
  expect(refused).toBeLessThanOrEqual(100 + 20 * seconds + attackers.length);
});

test('refusals that wait are answered when the process stops', { timeout: 120_000 }, async () => {
  let refused = 0;
  const publicUrl = () => {
    refused += 1; // each error names it
    return 'http://127.0.0.1';
  };
  const stopping = await startService({ publicUrl });
  // Time stands still, so that only the stop ends their wait.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const answering = Array.from({ length: 150 }, () => call(stopping, 'GET', '/v1/me', { key: null }));
  while (refused < 150) await new Promise((resolve) => setImmediate(resolve));
  const stopped = stopping.stop();
  expect(new Set((await Promise.all(answering)).map(({ status }) => status))).toEqual(new Set([401]));
  vi.useRealTimers();
  await stopped;
});

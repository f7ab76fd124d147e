import { expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { startService } from '../../server/test/support/service.ts';
import { startRedirectingServer } from './support/redirecting-server.ts';
import { startWorkerd } from './support/start-workerd.ts';

test('the SDK runs unmodified in Cloudflare’s runtime: calls, waits, lists, the feed, webhooks, refused redirects', async () => {
  const service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSequencer();
  const redirecting = await startRedirectingServer();
  const workerd = await startWorkerd();
  try {
    const settings = { baseUrl: service.url, apiKey: service.key, redirectingUrl: redirecting.url };
    const response = await fetch(workerd.url, { method: 'POST', body: JSON.stringify(settings) });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    const { report, expectedReport } = JSON.parse(text);
    expect(report).toEqual(expectedReport);
    expect(redirecting.requests, 'a redirect is not retried').toBe(1);
  } finally {
    await workerd.stop();
    await redirecting.stop();
    await service.stop();
  }
});

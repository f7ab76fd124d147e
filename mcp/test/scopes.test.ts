import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { callRaw, callTool } from './support/call.ts';
import { connectHttp, connectStdio } from './support/connect.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const reading = [
  'list_events',
  'list_products',
  'get_execution',
  'get_esim',
  'get_webhook_endpoint',
  'list_deliveries',
  'list_event_types',
  'wait_for_event',
  'get_request',
  'get_batch',
];

describe.each([
  ['HTTP', connectHttp],
  ['stdio', connectStdio],
] as const)('over %s', (_, connect) => {
  test('a key without write sees no tool that writes, and learns why', async () => {
    const key = await service.createKey({ scopes: ['read'] });
    const client = await connect({ url: service.url, key });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(reading);
    expect(client.getInstructions()).toMatch(
      /lacks scopes \(write, install\), so create_webhook_endpoint, provision_esim, send_test_event, get_install_profile, create_install_link, provision_batch are/,
    );
    expect((await callTool(client, 'list_products')).data).not.toHaveLength(0);
    await expect(callRaw(client, 'provision_esim', { product_id: 'prod_europe_5gb_30d' })).rejects.toThrow(
      'provision_esim',
    );
    await client.close();
  });

  test('a key that may not write is not offered the prompt, which would tell it to', async () => {
    const key = await service.createKey({ scopes: ['read', 'install'] });
    const client = await connect({ url: service.url, key });
    expect(await client.listPrompts()).toMatchObject({ prompts: [] });
    await expect(client.getPrompt({ name: 'provision_esim_with_webhooks' })).rejects.toThrow('disabled');
    await client.close();
  });

  test('a key with install sees install profiles, but no tool that writes', async () => {
    const key = await service.createKey({ scopes: ['read', 'install'] });
    const client = await connect({ url: service.url, key });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(new Set(names)).toEqual(new Set([...reading, 'get_install_profile']));
    await client.close();
  });

  test('a key with write sees all tools', async () => {
    const client = await connect(service);
    expect((await client.listTools()).tools).toHaveLength(16);
    expect((await client.listPrompts()).prompts).toHaveLength(1);
    expect(client.getInstructions()).not.toContain('lacks scopes');
    await client.close();
  });
});

test('over stdio, a service that does not answer keeps the list of tools back for seconds only, and then has all', async () => {
  let heldMs = Number.POSITIVE_INFINITY;
  const silent = createServer((request) => {
    const arrivedMs = performance.now();
    request.once('close', () => {
      heldMs = performance.now() - arrivedMs;
    });
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    const { port } = silent.address() as AddressInfo;
    const client = await connectStdio({ url: `http://127.0.0.1:${port}`, key: service.key });
    expect((await client.listTools()).tools).toHaveLength(16);
    await expect.poll(() => heldMs).toBeLessThan(15_000); // an attempt may take 30 s
    await client.close();
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});

import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFaultyProxy } from '../../sdk/test/support/faulty-proxy.ts';
import { generateApiKey } from '../../server/src/accounts/api-key-text.ts';
import { ordersDescribed } from '../../server/test/support/orders-described.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { callTool, refusalOf } from './support/call.ts';
import { connectHttp, connectStdio } from './support/connect.ts';

let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService();
  client = await connectHttp(service);
});
afterAll(async () => {
  await client.close();
  await service.stop();
});

describe('a refusal tells an agent what to do next', () => {
  test('an unknown product lists the ids that exist', async () => {
    const text = await refusalOf(client, 'provision_esim', { product_id: 'prod_atlantis' });
    expect(text).toMatch(/^Refused: resource_missing \(HTTP 404\): .*prod_atlantis/);
    expect(text).toContain('; list_products lists them.');
    expect(text).toContain('Argument: product_id');
    expect(text).toMatch(/Products that exist: .*prod_europe_5gb_30d \(Europe 5 GB, 30 days\)/);
    expect(text).toContain(`Docs: ${service.url}/docs#error-resource_missing`);
    expect(text).toMatch(/Request id: req_\w{26}$/);
  });

  test('a URL that cannot receive webhooks is refused with a remedy', async () => {
    const refused = (url: string) =>
      refusalOf(client, 'create_webhook_endpoint', { url, enabled_event_types: ['*'] });
    for (const url of ['http://169.254.169.254/latest', 'ftp://example.com', 'not a url']) {
      const text = await refused(url);
      expect(text).toMatch(/^Refused: url_not_allowed \(HTTP 400\)/);
      expect(text).toMatch(/\nWhat to do: .+\nDocs: .+\nRequest id: req_/);
    }
  });

  test.each([
    ['provision_esim', {}, /parameter_missing.*product_id is required/],
    [
      'provision_batch',
      { product_id: 'prod_europe_5gb_30d', quantity: 101 },
      /parameter_invalid: quantity must be at most 100/,
    ],
    ['provision_esim', { product_id: 7 }, /parameter_invalid.*product_id must be a string/],
    [
      'provision_esim',
      { product: 'x' },
      /parameter_unknown: product is not an argument.*product_id.*idempotency_key/,
    ],
    ['provision_esim', { product_id: 'x', idempotency_key: 'ö' }, /parameter_invalid: idempotency_key/],
    ['provision_esim', { product_id: 'x', idempotency_key: 'a\n' }, /parameter_invalid: idempotency_key/],
    [
      'provision_esim',
      { product_id: 'x', idempotency_key: 'a'.repeat(256) },
      /parameter_invalid: idempotency_key must be 1 to 255/,
    ],
    ['send_test_event', { type: 'Not A Type', data: {} }, /parameter_invalid.*type must match/],
    ['create_webhook_endpoint', { url: 'https://example.com', enabled_event_types: [] }, /must not be empty/],
    ['list_events', { limit: 0 }, /parameter_invalid.*limit must be at least 1/],
    [
      'list_events',
      { startingAfter: 'x' },
      /parameter_unknown: startingAfter.* takes type, iccid, execution_id, reference, limit, starting_after, created_gt, .*\./,
    ],
    [
      'list_events',
      { starting_after: 'x' },
      /cursor_invalid.*\nArgument: .*\nWhat to do: Start again without/,
    ],
    ['list_events', { type: ['NOT'] }, /parameter_invalid.*\nArgument: type/],
    ['list_events', { created_gte: 'x' }, /parameter_invalid.*: created_gte .*\nArgument: created_gte\n/],
    ['get_execution', {}, /parameter_invalid: execution_id must be an id; got nothing/],
    ['get_execution', { execution_id: 'exec_none' }, /resource_missing.*\nArgument: execution_id\n/],
    ['get_execution', { execution_id: 'x'.repeat(300) }, /resource_missing.*\nArgument: execution_id\n/],
    ['get_esim', {}, /iccid must be an id; got nothing/],
    ['get_esim', { iccid: '8999901999999999999' }, /resource_missing.*\nArgument: iccid\n/],
    ['get_webhook_endpoint', { id: 'x' }, /id is not an argument; this tool takes webhook_endpoint_id/],
    [
      'get_webhook_endpoint',
      { webhook_endpoint_id: 'we_x' },
      /resource_missing.*\nArgument: webhook_endpoint_id\n/,
    ],
    ['list_deliveries', {}, /Pass either event_id or webhook_endpoint_id/],
    ['list_deliveries', { event_id: 'evt_x', webhook_endpoint_id: 'we_x' }, /Pass either event_id or/],
    ['list_deliveries', { event_id: 'evt_x' }, /resource_missing.*\nArgument: event_id\n/],
    [
      'list_deliveries',
      { webhook_endpoint_id: 'we_x' },
      /resource_missing.*\nArgument: webhook_endpoint_id\n/,
    ],
    ['list_deliveries', { event_id: 'evt_x', status: 'failed' }, /status needs webhook_endpoint_id/],
    ['list_event_types', { limit: 0 }, /parameter_invalid.*limit must be at least 1/],
    [
      'get_execution',
      { execution_id: 'x', wait_seconds: 31 },
      /wait_seconds must be an integer from 0 to 30/,
    ],
    ['get_execution', { execution_id: 'x', seconds: 1 }, /seconds is not an argument/],
    ['get_install_profile', { iccid: '..' }, /iccid must be an id/],
    ['get_install_profile', { iccid: '8999901999999999999' }, /resource_missing/],
  ])('%s with %j is explained', async (name, args, expected) => {
    const text = await refusalOf(client, name, args);
    expect(text).toMatch(expected);
    expect(text).toContain('What to do: ');
    expect(text).not.toMatch(/\/v1\/|Idempotency-Key|`param`/);
  });

  test('a key that was reused for other arguments is named as the tool names it', async () => {
    const order = { product_id: 'prod_europe_5gb_30d', idempotency_key: 'reused' };
    await callTool(client, 'provision_esim', order);
    const text = await refusalOf(client, 'provision_esim', { ...order, product_id: 'prod_us_1gb_7d' });
    expect(text).toMatch(
      /idempotency_key_reused.*This idempotency_key was used.*\nArgument: idempotency_key\n/,
    );
  });

  test('deeply nested JSON is refused, and the server keeps working', async () => {
    let data: object = {};
    for (let depth = 0; depth < 3_000; depth++) data = { data };
    expect(await refusalOf(client, 'send_test_event', { type: 'a.b', data })).toMatch(/json_invalid/);
    expect((await callTool(client, 'list_events')).object).toBe('list');
  });
});

test('over stdio, a wrong key or an unreachable server is a tool error with a remedy', async () => {
  const wrong = await connectStdio({ url: service.url, key: generateApiKey('sandbox') }, '2025-06-18');
  expect(wrong.getNegotiatedProtocolVersion()).toBe('2025-06-18');
  const refused = await refusalOf(wrong, 'list_products');
  expect(refused).toMatch(/^Refused: api_key_invalid \(HTTP 401\)/);
  expect(refused).toMatch(/Ask the user to set a valid key/);
  await expect(wrong.getPrompt({ name: 'provision_esim_with_webhooks' })).rejects.toThrow(/api_key_invalid/);
  await wrong.close();

  const lost = await connectStdio({ url: 'http://127.0.0.1:1023', key: service.key });
  const unanswered = await refusalOf(lost, 'provision_esim', { product_id: 'prod_europe_5gb_30d' });
  expect(unanswered).toMatch(/^No response: provision_esim got no response \(ECONNREFUSED\)/);
  expect(unanswered).toMatch(/What to do: Check that the Simplane server is running/);
  expect(unanswered).not.toContain(service.key);
  expect(await refusalOf(lost, 'list_products')).not.toContain('idempotency_key');
  await lost.close();
});

test.each([
  ['lost: reset', /^No response/],
  ['lost: 502 page', /^Refused: .*HTTP 502/],
] as const)(
  'an order whose answer is lost (%s) names the key that repeats it without a second order',
  async (fault, expected) => {
    const lossy = await startFaultyProxy(service.url);
    const agent = await connectStdio({ url: lossy.url, key: service.key });
    await callTool(agent, 'list_products');
    lossy.plan = Array(9).fill(fault);
    const order = { product_id: 'prod_us_1gb_7d', description: fault };
    const text = await refusalOf(agent, 'provision_esim', order);
    expect(text).toMatch(expected);
    lossy.plan = [];
    const [, key] = /idempotency_key "([^"]+)"/.exec(text) ?? [];
    await callTool(agent, 'provision_esim', { ...order, idempotency_key: key });
    expect(await ordersDescribed(service, fault)).toHaveLength(1);
    await agent.close();
    await lossy.stop();
  },
);

test('in live mode a test event and an unknown event type are refused', async () => {
  const live = await startService({ mode: 'live' });
  try {
    const agent = await connectHttp(live);
    const text = await refusalOf(agent, 'send_test_event', { type: 'esim.provisioned', data: {} });
    expect(text).toMatch(/^Refused: sandbox_only \(HTTP 403\)/);
    expect(text).toContain('Skip this step');
    const unknown = { url: 'https://example.com/hooks', enabled_event_types: ['esim.nothing'] };
    expect(await refusalOf(agent, 'create_webhook_endpoint', unknown)).toContain(
      'Use a type from list_event_types, or',
    );
    await agent.close();
  } finally {
    await live.stop();
  }
});

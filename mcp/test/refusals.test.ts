import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../server/src/accounts/api-key-text.ts';
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
    expect(text).toContain('Parameter: product_id');
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
    ['provision_esim', { product_id: 7 }, /parameter_invalid.*product_id must be a string/],
    ['provision_esim', { product: 'x' }, /parameter_unknown.*product is not a parameter.*product_id/],
    ['provision_esim', { product_id: 'x', idempotency_key: 'ö' }, /parameter_invalid: idempotency_key/],
    ['send_test_event', { type: 'Not A Type', data: {} }, /parameter_invalid.*type must match/],
    ['create_webhook_endpoint', { url: 'https://example.com', enabled_event_types: [] }, /must not be empty/],
    ['list_events', { limit: 0 }, /parameter_invalid.*limit must be at least 1/],
    ['list_events', { startingAfter: 'x' }, /parameter_unknown.*starting_after/],
    [
      'list_events',
      { starting_after: 'x' },
      /cursor_invalid.*\nParameter: .*\nWhat to do: Start again without/,
    ],
    ['get_execution', {}, /parameter_invalid: execution_id must be an id; got nothing/],
    ['get_execution', { execution_id: 'exec_none' }, /resource_missing/],
    [
      'get_execution',
      { execution_id: 'x', wait_seconds: 31 },
      /wait_seconds must be an integer from 0 to 30/,
    ],
    ['get_execution', { execution_id: 'x', seconds: 1 }, /seconds is not a parameter/],
    ['get_install_profile', { iccid: '..' }, /iccid must be an id/],
    ['get_install_profile', { iccid: '8999901999999999999' }, /resource_missing/],
  ])('%s with %j is explained', async (name, args, expected) => {
    const text = await refusalOf(client, name, args);
    expect(text).toMatch(expected);
    expect(text).toContain('What to do: ');
  });

  test('a missing scope is named, and the other tools still work', async () => {
    const reading = await connectHttp({
      url: service.url,
      key: await service.createKey({ scopes: ['read'] }),
    });
    const text = await refusalOf(reading, 'provision_esim', { product_id: 'prod_europe_5gb_30d' });
    expect(text).toMatch(/^Refused: scope_missing \(HTTP 403\): .*write/);
    expect(await refusalOf(reading, 'get_install_profile', { iccid: '8999901999999999999' })).toMatch(
      /^Refused: scope_missing \(HTTP 403\): .*`install` scope \(included in `write`\)/,
    );
    expect((await callTool(reading, 'list_products')).data).not.toHaveLength(0);
    await reading.close();
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
  expect(unanswered).toMatch(/^No response: POST \/v1\/esims got no response \(ECONNREFUSED\)/);
  expect(unanswered).toMatch(/What to do: Check that the Simplane server is running/);
  expect(unanswered).not.toContain(service.key);
  await lost.close();
});

test('in live mode a test event is refused with the API’s error', async () => {
  const live = await startService({ mode: 'live' });
  try {
    const agent = await connectHttp(live);
    const text = await refusalOf(agent, 'send_test_event', { type: 'esim.provisioned', data: {} });
    expect(text).toMatch(/^Refused: sandbox_only \(HTTP 403\)/);
    expect(text).toContain('Skip this step');
    await agent.close();
  } finally {
    await live.stop();
  }
});

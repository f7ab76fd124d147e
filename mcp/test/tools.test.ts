import type { Client } from '@modelcontextprotocol/client';
import { eventTypeNames, operations } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { call } from '../../server/test/support/client.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { callRaw, callTool, refusalOf } from './support/call.ts';
import { connectHttp, connectStdio } from './support/connect.ts';

const product = 'prod_europe_5gb_30d';

let service: TestService;

beforeAll(async () => {
  service = await startService({ requestLogLevel: 'errors' });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterAll(() => service.stop());

describe.each([
  ['HTTP', connectHttp],
  ['stdio', connectStdio],
] as const)('over %s', (_, connect) => {
  let client: Client;

  beforeAll(async () => {
    client = await connect(service);
    await client.listTools(); // from now on the client validates results against the output schemas
  });
  afterAll(() => client.close());

  test('every tool declares whether it reads or creates', async () => {
    const { tools } = await client.listTools();
    const reads = [true, false, true, false];
    const creates = [false, false, false, true];
    expect(
      tools.map(({ name, annotations: hints }) => [
        name,
        [hints?.readOnlyHint, hints?.destructiveHint, hints?.idempotentHint, hints?.openWorldHint],
      ]),
    ).toEqual([
      ['create_webhook_endpoint', creates],
      ['provision_esim', creates],
      ['send_test_event', creates],
      ['list_events', reads],
      ['list_products', reads],
      ['get_execution', reads],
      ['get_esim', reads],
      ['get_install_profile', reads],
      ['create_install_link', creates],
      ['get_webhook_endpoint', reads],
      ['list_deliveries', reads],
      ['list_event_types', reads],
      ['wait_for_event', reads],
      ['get_request', reads],
      ['provision_batch', creates],
      ['get_batch', reads],
    ]);
    for (const { title, description, inputSchema, outputSchema } of tools) {
      expect([typeof title, typeof description]).toEqual(['string', 'string']);
      expect([inputSchema.type, outputSchema?.['type']]).toEqual(['object', 'object']);
    }
  });

  test('arguments match the contract, plus an optional idempotency key', async () => {
    const { tools } = await client.listTools();
    const argumentNames = Object.fromEntries(
      tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]),
    );
    expect(argumentNames).toEqual({
      create_webhook_endpoint: [...fieldsOf(operations.createWebhookEndpoint.body), 'idempotency_key'],
      provision_esim: [
        ...fieldsOf(operations.createEsim.body).filter((name) => name !== 'dry_run'),
        'idempotency_key',
      ],
      send_test_event: [...fieldsOf(operations.sendTestEvent.body), 'idempotency_key'],
      list_events: [
        'type',
        'iccid',
        'execution_id',
        'reference',
        'limit',
        'starting_after',
        'created_gt',
        'created_gte',
        'created_lt',
        'created_lte',
      ],
      list_products: ['limit', 'starting_after', 'country'],
      get_execution: ['execution_id', 'wait_seconds'],
      get_esim: ['iccid'],
      get_install_profile: ['iccid'],
      create_install_link: ['iccid', ...fieldsOf(operations.createInstallLink.body), 'idempotency_key'],
      get_webhook_endpoint: ['webhook_endpoint_id'],
      list_deliveries: ['event_id', 'webhook_endpoint_id', 'status', 'limit', 'starting_after'],
      list_event_types: ['limit', 'starting_after'],
      wait_for_event: ['type', 'iccid', 'wait_seconds', 'after'],
      get_request: ['request_id'],
      provision_batch: ['product_id', 'quantity', 'idempotency_key'],
      get_batch: ['batch_id'],
    });
    // Some model providers refuse other names.
    for (const name of Object.values(argumentNames).flat()) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    const [{ inputSchema } = { inputSchema: {} }] = tools.filter(({ name }) => name === 'provision_esim');
    expect(inputSchema).toMatchObject({ required: ['product_id'], additionalProperties: false });
  });

  test('every schema has a single type, which all model providers support', async () => {
    const { tools } = await client.listTools();
    for (const { name, inputSchema, outputSchema } of tools)
      expect([name, ...unportable(inputSchema), ...unportable(outputSchema)]).toEqual([name]);
  });

  test('a failed request is explained at once by its id, with the remedy', async () => {
    const refused = await fetch(`${service.url}/v1/products/none`, {
      headers: { Authorization: `Bearer ${service.key}` },
    });
    const id = refused.headers.get('request-id');
    expect(await callTool(client, 'get_request', { request_id: id })).toMatchObject({
      id,
      status: 404,
      error: { code: 'resource_missing', remedy: expect.stringContaining('Check the id') },
    });
  });

  test('a request that is not in the log yet is looked for again', async () => {
    const { headers } = await call(service, 'GET', '/v1/products/none');
    const id = headers.get('request-id');
    await until(
      async () => (await call(service, 'GET', `/v1/requests/${id}`)).status,
      (status) => status === 200,
    );
    const { query } = service.db;
    onTestFinished(() => {
      service.db.query = query;
    });
    let looks = 0;
    service.db.query = (statement, values) => {
      if (statement.name === 'request_log_find') looks += 1;
      return statement.name === 'request_log_find' && looks === 1
        ? Promise.resolve([])
        : query(statement, values);
    };
    expect(await callTool(client, 'get_request', { request_id: id })).toMatchObject({ id, status: 404 });
    expect(looks).toBe(2);
  });

  test('an eSIM is ordered, waited for and installed, by its code or by a link', async () => {
    const { data } = await callTool(client, 'list_products', { limit: 2 });
    expect(data).toHaveLength(2);
    const ordered = await callTool(client, 'provision_esim', {
      product_id: product,
      metadata: { order_id: 'A-1' },
    });
    expect(ordered).toMatchObject({ object: 'execution', product_id: product });
    const done = await callTool(client, 'get_execution', { execution_id: ordered.id, wait_seconds: 30 });
    expect(done).toMatchObject({ id: ordered.id, status: 'succeeded' });

    const { content, structuredContent } = await callRaw(client, 'get_install_profile', {
      iccid: done.iccid,
    });
    const profile = structuredContent as { iccid: string };
    expect(JSON.parse(content[0]?.type === 'text' ? content[0].text : '')).toEqual(profile);
    const picture = content[1];
    if (picture?.type !== 'image') throw new Error('no picture came');
    expect(picture.mimeType).toBe('image/png');
    expect(picture.data).toBe(await qrOf(profile.iccid));

    const args = { iccid: done.iccid, language: 'de', idempotency_key: `link-${done.iccid}` };
    const link = await callTool(client, 'create_install_link', args);
    expect(link).toMatchObject({ object: 'install_link', iccid: done.iccid, language: 'de' });
    expect(link.url).toMatch(/\/i\/[\w-]{43}$/);
    expect(link).not.toHaveProperty('qr'); // it would only fill the context
    expect(await callTool(client, 'create_install_link', args)).toEqual(link);
  });

  test('an order that failed is an answer, not an error', async () => {
    const ordered = await callTool(client, 'provision_esim', { product_id: 'prod_sandbox_declined' });
    const failed = await callTool(client, 'get_execution', { execution_id: ordered.id, wait_seconds: 30 });
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'declined' } });
  });

  test('the same idempotency_key is the same order; without one, equal arguments are two orders', async () => {
    const key = `agent-${Math.random()}`;
    const [first, again] = [
      await callTool(client, 'provision_esim', { product_id: product, idempotency_key: key }),
      await callTool(client, 'provision_esim', { product_id: product, idempotency_key: key }),
    ];
    expect(again.id).toBe(first.id);
    const others = [
      await callTool(client, 'provision_esim', { product_id: product }),
      await callTool(client, 'provision_esim', { product_id: product }),
    ];
    expect(new Set([first.id, ...others.map(({ id }) => id)]).size).toBe(3);
    expect(
      await refusalOf(client, 'provision_esim', { product_id: 'prod_europe_1gb_7d', idempotency_key: key }),
    ).toContain('idempotency_key_reused');
  });

  test('endpoints and test events are created, and the log is read page by page', async () => {
    const endpoint = await callTool(client, 'create_webhook_endpoint', {
      url: 'http://127.0.0.1:9/hooks',
      enabled_event_types: ['test.walk'],
    });
    expect(endpoint).toMatchObject({ object: 'webhook_endpoint', secret: expect.stringMatching(/^whsec_/) });
    const sent = [];
    for (const n of [1, 2, 3])
      sent.push((await callTool(client, 'send_test_event', { type: 'test.walk', data: { n } })).id);

    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await callTool(client, 'list_events', {
        limit: 2,
        ...(cursor !== undefined && { starting_after: cursor }),
      });
      seen.push(...page.data.map(({ id }: { id: string }) => id));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen.slice(0, 3)).toEqual(sent.toReversed());
    const walked = await callTool(client, 'list_events', { type: ['test.walk'], limit: 100 });
    expect(walked.data.map(({ id }: { id: string }) => id).slice(0, 3)).toEqual(sent.toReversed());
    expect(await callTool(client, 'list_events', { created_gte: 4_000_000_000 })).toMatchObject({ data: [] });
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('an endpoint, an eSIM and the event types are read', async () => {
    const { secret: _, ...endpoint } = await callTool(client, 'create_webhook_endpoint', {
      url: 'http://127.0.0.1:9/hooks',
      enabled_event_types: ['test.none'],
    });
    expect(await callTool(client, 'get_webhook_endpoint', { webhook_endpoint_id: endpoint.id })).toEqual(
      endpoint,
    );
    const { id } = await callTool(client, 'provision_esim', { product_id: product });
    const { iccid } = await callTool(client, 'get_execution', { execution_id: id, wait_seconds: 30 });
    const { json: esim } = await call(service, 'GET', `/v1/esims/${iccid}`);
    expect(await callTool(client, 'get_esim', { iccid })).toEqual(esim);
    const types = await callTool(client, 'list_event_types');
    expect(types).toMatchObject({ has_more: false });
    expect(types.data.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(eventTypeNames),
    );
  });

  test('the prompt needs no argument and names the four tools in order and existing products', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['provision_esim_with_webhooks']);
    expect(prompts[0]?.arguments?.every(({ required }) => !required)).toBe(true);

    const text = await promptText(client, {});
    const order = ['create_webhook_endpoint', 'provision_esim', 'send_test_event', 'list_events'];
    const positions = order.map((name) => text.indexOf(name));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(positions[0]).toBeGreaterThan(-1);
    const { json } = await call(service, 'GET', '/v1/products?limit=100');
    for (const { id } of json.data) expect(text).toContain(id);

    const given = await promptText(client, { webhook_url: 'https://example.com/hooks', product_id: product });
    expect(given).toContain('url "https://example.com/hooks"');
    expect(given).toContain(`product_id "${product}"`);
  });

  test('the catalog, the OpenAPI document and install profiles are resources', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['simplane://products', 'simplane://openapi.json']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'simplane://esims/{iccid}/install',
      'simplane://esims/{iccid}/install.png',
    ]);
    expect(JSON.parse(await read(client, 'simplane://products')).data[0]).toHaveProperty('id');
    expect(JSON.parse(await read(client, 'simplane://openapi.json')).openapi).toBe('3.1.0');

    const { id } = await callTool(client, 'provision_esim', { product_id: product });
    const { iccid } = await callTool(client, 'get_execution', { execution_id: id, wait_seconds: 30 });
    const profile = JSON.parse(await read(client, `simplane://esims/${iccid}/install`));
    expect(profile).toMatchObject({ object: 'install_profile', iccid });
    const png = await read(client, `simplane://esims/${iccid}/install.png`);
    expect(png).toBe(await qrOf(iccid));

    const complete = async (value: string) => {
      const ref = { type: 'ref/resource', uri: 'simplane://esims/{iccid}/install' } as const;
      return (await client.complete({ ref, argument: { name: 'iccid', value } })).completion.values;
    };
    expect(await complete(iccid.slice(0, 7))).toContain(iccid);
    expect(await complete(iccid)).toEqual([iccid]);
    expect(await complete(iccid.slice(1))).toEqual([]);
    await expect(read(client, 'simplane://esims/8999901999999999999/install')).rejects.toThrow(
      /resource_missing/,
    );
  });
});

function fieldsOf({ properties }: { properties: object }): string[] {
  return Object.keys(properties);
}

/** Paths where a schema has several types in one `type`, or none. */
function unportable(schema: unknown, path = ''): string[] {
  const { type, anyOf, properties = {}, items } = schema as Record<string, object>;
  return [
    ...(Array.isArray(type) || (type ?? anyOf) === undefined ? [path] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => unportable(inner, `${path}.${name}`)),
    ...(items ? unportable(items, `${path}[]`) : []),
  ];
}

async function promptText(client: Client, args: Record<string, string>): Promise<string> {
  const { messages } = await client.getPrompt({ name: 'provision_esim_with_webhooks', arguments: args });
  const content = messages[0]?.content;
  return content?.type === 'text' ? content.text : '';
}

async function read(client: Client, uri: string): Promise<string> {
  const [contents] = (await client.readResource({ uri })).contents;
  if (!contents) throw new Error(`${uri} is empty`);
  return 'text' in contents ? contents.text : contents.blob;
}

/** The API's QR code image in base64. */
async function qrOf(iccid: string): Promise<string> {
  const { json } = await call(service, 'GET', `/v1/esims/${iccid}/install`);
  return json.qr.png.split(',')[1];
}

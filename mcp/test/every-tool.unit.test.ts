import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { createSimplane } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { createMcpServer } from '../src/create-mcp-server.ts';

type Schema = {
  type?: string;
  enum?: unknown[];
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
};

/** A value that no other argument of the tool has. */
function valueFor(name: string, schema: Schema, place: number): unknown {
  const { type, items = {}, anyOf } = schema;
  if (schema.enum) return schema.enum[0];
  if (anyOf) return valueFor(name, anyOf[0] ?? {}, place);
  if (type === 'integer') return 10 + place;
  if (type === 'array') return [valueFor(name, items, place)];
  if (type === 'object') return { [`${name}-field`]: 'value' };
  return `${name}-value`;
}

/** Arguments that exclude each other. */
const choices: Record<string, string[][]> = {
  list_deliveries: [['event_id'], ['webhook_endpoint_id', 'status']],
};

const sent: string[] = [];
const answer = {
  ...{ object: 'list', data: [{ id: 'x', data: { iccid: 'iccid-value' } }], has_more: false, cursor: 'c1' },
  ...{ id: 'x', iccid: 'x', status: 'succeeded', open: 0, product_id: 'x', esim_status: 'provisioned' },
};

async function connect(): Promise<Client> {
  const simplane = createSimplane({
    apiKey: 'sp_test_recorded',
    baseUrl: 'http://api.test',
    maxRetries: 0,
    fetch: async (url, { method, headers, body }) => {
      const { pathname, search } = new URL(url);
      const key = new Headers(headers).get('Idempotency-Key');
      const shownKey = key === null ? [] : [`key: ${key === 'idempotency_key-value' ? 'given' : 'random'}`];
      sent.push([`${method} ${pathname}${search}`, ...(body ? [body] : []), ...shownKey].join('  '));
      return Response.json(answer);
    },
  });
  const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
  await createMcpServer(simplane).connect(ofServer as never);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(ofClient);
  return client;
}

test('every tool sends what it always has, with all its arguments, and with those that it needs', async () => {
  // A client that has the schemas checks the results, which are no real ones here.
  const [catalog, client] = [await connect(), await connect()];
  const lines: string[] = [];
  for (const { name, inputSchema } of (await catalog.listTools()).tools) {
    const { properties = {}, required = [] } = inputSchema as Schema;
    const given = Object.entries(properties).map(
      ([argument, schema], place) => [argument, valueFor(argument, schema, place)] as const,
    );
    const optional = given.map(([argument]) => argument).filter((argument) => !required.includes(argument));
    for (const without of choices[name] ?? [[], ...(optional.length > 0 ? [optional] : [])]) {
      sent.length = 0;
      const args = Object.fromEntries(given.filter(([argument]) => !without.includes(argument)));
      await client.callTool({ name, arguments: args });
      lines.push([name, ...without].join(' -'), ...sent.map((request) => `  ${request}`));
    }
  }
  for (const one of [catalog, client]) await one.close();
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./every-tool.txt');
});

import type { McpServer } from '@modelcontextprotocol/server';
import { ConnectionError, type Simplane } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { splitKey } from '../src/idempotency-key.ts';
import { inputSchema } from '../src/schema.ts';
import { registerTool } from '../src/tool.ts';
import { listProducts } from '../src/tools/list-products.ts';

type Handler = (args: object, context: object) => Promise<{ isError?: boolean }>;

/** Calls a tool whose API fails with this error, and returns what was reported to the operator. */
async function reportedOf(error: Error, signal: AbortSignal): Promise<unknown[]> {
  const reported: unknown[] = [];
  const list = async () => {
    throw error;
  };
  const deps = {
    simplane: { products: { list } } as unknown as Simplane,
    onError: (seen: unknown) => reported.push(seen),
  };
  let handler: Handler | undefined;
  const server = { registerTool: (...[, , given]: [string, object, Handler]) => (handler = given) };
  registerTool(server as unknown as McpServer, deps, listProducts);
  expect(await handler?.({}, { mcpReq: { signal } })).toMatchObject({ isError: true });
  return reported;
}

test('a bug in a tool is reported to the operator; a refusal and a call that was canceled are not', async () => {
  const { signal } = new AbortController();
  const bug = new TypeError('data is not iterable');
  expect(await reportedOf(bug, signal)).toEqual([bug]);
  expect(await reportedOf(new ConnectionError('reset'), signal)).toEqual([]);
  expect(await reportedOf(bug, AbortSignal.abort())).toEqual([]);
});

test('a list of texts that may be null has only texts, or a model provider would refuse all tools', () => {
  const reason = { type: ['string', 'null'], enum: ['failing', null] };
  expect(inputSchema({ properties: { reason } }).properties).toEqual({
    reason: { anyOf: [{ type: 'string', enum: ['failing'] }, { type: 'null' }] },
  });
});

test('an idempotency key is a text that a header can carry, and no part of the body', () => {
  const key = `${'a'.repeat(254)}~`;
  expect(splitKey({ idempotency_key: key, product_id: 'p' })).toEqual({
    ...{ body: { product_id: 'p' }, options: { idempotencyKey: key } },
  });
  expect(splitKey({ product_id: 'p' } as object)).toEqual({ body: { product_id: 'p' }, options: {} });
  for (const wrong of [7, true, null, '', 'ü', 'a\n', `${key}a`])
    expect(() => splitKey({ idempotency_key: wrong } as object)).toThrow('1 to 255 printable ASCII');
});

import type { Simplane } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { createHttpHandler } from '../src/create-http-handler.ts';

const body = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'list_products', arguments: {} },
};

test('a call that is in flight when the server stops gets its answer', async () => {
  let reach = () => {};
  let answer = (_: object) => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const list = () => {
    reach();
    return new Promise<object>((resolve) => {
      answer = resolve;
    });
  };
  const { handle, close } = createHttpHandler({
    connect: () => ({ products: { list } }) as unknown as Simplane,
    onError(error) {
      throw error;
    },
  });
  const request = new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify(body),
  });
  const response = handle(request, { apiKey: 'k', scopes: ['read'], address: '127.0.0.1' });
  await reached;
  let isClosed = false;
  const closing = close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  answer({ object: 'list', data: [{ id: 'prod_late' }], has_more: false });
  expect(await (await response).text()).toContain('prod_late');
  await closing;
});

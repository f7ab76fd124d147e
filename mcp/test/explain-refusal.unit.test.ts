import { ApiError, ConnectionError, type Simplane } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { explainRefusal } from '../src/explain-refusal.ts';
import { InvalidArgument } from '../src/invalid-argument.ts';
import { orProtocolError } from '../src/protocol-error.ts';

const simplane = {} as Simplane;

test('a bug is told without its details', async () => {
  const text = await explainRefusal(new TypeError('Cannot read secrets of undefined'), simplane);
  expect(text).toBe('Failed: Unexpected error in the MCP server.');
});

test('a refusal repeats only the beginning of an argument', async () => {
  const text = await explainRefusal(new InvalidArgument('p'.repeat(1_000), 'm'.repeat(1_000)), simplane);
  expect(text.match(/p{50,}|m{50,}/g)?.map(({ length }) => length)).toEqual([300, 100]);
});

const refusalOf = (error: object) =>
  new ApiError({
    ...{ status: 404, headers: new Headers() },
    body: { error: { type: 'invalid_request_error', message: 'There is none.', ...error } },
  });

test('products are named only where one is missing', async () => {
  const asked: string[] = [];
  let has_more = false;
  const list = async () => {
    asked.push('products');
    return { data: [{ id: 'prod_a', name: 'A' }], has_more };
  };
  const client = { products: { list } } as unknown as Simplane;
  const ofEsim = await explainRefusal(refusalOf({ code: 'resource_missing', param: 'iccid' }), client);
  expect([ofEsim.includes('Products that exist'), asked]).toEqual([false, []]);
  const missing = refusalOf({ code: 'resource_missing', param: 'product_id' });
  expect(await explainRefusal(missing, client)).toMatch(/\nProducts that exist: prod_a \(A\)$/);
  const away = { products: { list: () => Promise.reject(new Error('away')) } } as unknown as Simplane;
  expect(await explainRefusal(missing, away)).toMatch(/\nProducts that exist: call list_products$/);
  has_more = true;
  expect(await explainRefusal(missing, client)).toMatch(/: prod_a \(A\); list_products returns more$/);
});

test('the tool that was called is named, not one whose path its path begins with', async () => {
  const lost = new ConnectionError('POST /v1/esims/8999/install_links got no response');
  expect(await explainRefusal(lost, simplane)).toMatch(/^No response: create_install_link got no response\n/);
});

test('a resource that does not exist has the protocol’s code for that, any other failure that of an internal error', async () => {
  const uri = 'simplane://esims/8999/install';
  const errorOf = (error: Error) => orProtocolError(simplane, () => Promise.reject(error), uri);
  const missing = refusalOf({ code: 'resource_missing', param: 'iccid' });
  await expect(errorOf(missing)).rejects.toMatchObject({ code: -32602, data: { uri } });
  await expect(errorOf(new ConnectionError('reset'))).rejects.toMatchObject({ code: -32603 });
});

test.each(['of_tomorrow', 'constructor'])(
  'the code %s, which is not ours, is explained by its message',
  async (code) => {
    const text = await explainRefusal(refusalOf({ code }), simplane);
    expect(text).toBe(`Refused: ${code} (HTTP 404): There is none.\nWhat to do: Follow the message.`);
  },
);

test('a parameter whose name has brackets gets the name that the tool has for it', async () => {
  const error = {
    code: 'parameter_invalid',
    param: 'created[gte]',
    message: 'created[gte] must be a number.',
  };
  const text = await explainRefusal(refusalOf(error), simplane, { 'created[gte]': 'created_gte' });
  expect(text).toContain('created_gte must be a number.\nArgument: created_gte\n');
});

import { ApiError, type Simplane } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { explainRefusal } from '../src/explain-refusal.ts';
import { InvalidArgument } from '../src/invalid-argument.ts';

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
  const list = async () => {
    asked.push('products');
    return { data: [{ id: 'prod_a', name: 'A' }], has_more: false };
  };
  const client = { products: { list } } as unknown as Simplane;
  const ofEsim = await explainRefusal(refusalOf({ code: 'resource_missing', param: 'iccid' }), client);
  expect([ofEsim.includes('Products that exist'), asked]).toEqual([false, []]);
  const ofProduct = await explainRefusal(
    refusalOf({ code: 'resource_missing', param: 'product_id' }),
    client,
  );
  expect(ofProduct).toContain('\nProducts that exist: prod_a (A)');
});

test('a code that only a newer server knows is explained by its message', async () => {
  const text = await explainRefusal(refusalOf({ code: 'of_tomorrow' }), simplane);
  expect(text).toBe('Refused: of_tomorrow (HTTP 404): There is none.\nWhat to do: Follow the message.');
});

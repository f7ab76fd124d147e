import { type InputOf, operations } from '@simplane/contract';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, reading } from '../tool.ts';

const operation = operations.listProducts;

export const listProducts = defineTool({
  name: 'list_products',
  title: 'List products',
  description:
    'The catalog: data plans with countries, data, validity and price. Their ids are what provision_esim takes.',
  annotations: reading,
  input: inputSchema(operation.query),
  output: outputSchema(operation),
  run: async ({ simplane, signal }, query: InputOf<typeof operation>['query']) =>
    simplane.products.list(query, { signal }),
});

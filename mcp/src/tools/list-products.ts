import { type InputOf, operations } from '@simplane/contract';
import { readBoundedPage } from '../bound-answer.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const operation = operations.listProducts;

export const listProducts = defineTool({
  name: 'list_products',
  title: 'List products',
  description:
    'Returns the catalog: data plans with countries, data, validity and price. Pass a product’s id to provision_esim.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema(operation.query),
  output: outputSchema(operation),
  run: ({ simplane, signal }, query: InputOf<typeof operation>['query']) =>
    readBoundedPage('list_products', (limit) =>
      simplane.products.list({ ...query, ...(limit !== undefined && { limit }) }, { signal }),
    ),
});

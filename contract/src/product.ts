import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableInteger, unixSeconds } from './schema.ts';

/** Ids are the operator's own words; what they may look like is fixed, since they stand in paths. */
export const productIdPattern = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$';

/** What an operator states of a product; the catalog file holds exactly these. */
export const productFields = {
  id: Type.String({ pattern: productIdPattern, examples: ['prod_europe_5gb_30d'] }),
  name: Type.String({ minLength: 1, maxLength: 200, examples: ['Europe 5 GB, 30 days'] }),
  countries: Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), {
    minItems: 1,
    uniqueItems: true,
    description: 'Where it works: ISO 3166-1 alpha-2 codes.',
  }),
  data_bytes: nullableInteger({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Included data; null means unlimited.',
  }),
  validity_days: Type.Integer({
    minimum: 1,
    maximum: 3650,
    description: 'How long the data lasts from the first attach.',
  }),
  price: Type.Object(
    {
      amount: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'In minor units (cents).',
      }),
      currency: Type.String({
        pattern: '^[a-z]{3}$',
        description: 'ISO 4217 in lower case.',
        examples: ['eur'],
      }),
    },
    { additionalProperties: false },
  ),
  speeds: Type.Array(Type.Enum(['3G', '4G', '5G']), { minItems: 1, uniqueItems: true }),
};

const { id, ...otherFields } = productFields;

export const Product = Type.Object(
  {
    id,
    object: Type.Literal('product'),
    ...otherFields,
    active: Type.Boolean({ description: 'Whether it can be provisioned now.' }),
    created: unixSeconds('When it entered the catalog.'),
  },
  { title: 'Product', description: 'A data plan that an eSIM can be provisioned with.' },
);

export type Product = Static<typeof Product>;

export const listProducts = operation({
  method: 'GET',
  path: '/v1/products',
  tag: 'Products',
  summary: 'List products',
  description: 'The catalog: every product that is listed and active.',
  scope: 'read',
  query: listQuery({}),
  status: 200,
  response: listOf(Product, 'ProductList'),
  refusals: ['cursor_invalid'],
});

export const getProduct = operation({
  method: 'GET',
  path: '/v1/products/{id}',
  tag: 'Products',
  summary: 'Get a product',
  description: 'One product by its id, also when it is unlisted or no longer active.',
  scope: 'read',
  params: Type.Object({
    id: Type.String({ description: 'The product’s `id`.', examples: ['prod_europe_5gb_30d'] }),
  }),
  status: 200,
  response: Product,
  refusals: ['resource_missing'],
});

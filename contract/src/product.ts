import type { Static } from 'typebox';
import { countryInput } from './country.ts';
import { exampleBytes, exampleProductId, exampleTime } from './example-values.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableInteger, unixSeconds } from './schema.ts';
import { AfterDepletion } from './service.ts';
import { Type } from './type.ts';

/** Operators choose product ids. The pattern keeps them safe in URL paths. */
export const productIdPattern = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$';

export const priceFields = {
  amount: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Price in the currency’s minor unit, such as cents.',
  }),
  currency: Type.String({
    pattern: '^[a-z]{3}$',
    description: 'ISO 4217 code in lowercase.',
    examples: ['eur'],
  }),
};

const price = Type.Object(priceFields, { additionalProperties: false });

export type Price = Static<typeof price>;

/** The fields an operator sets. The catalog file has exactly these. */
export const productFields = {
  id: Type.String({ pattern: productIdPattern, examples: ['prod_europe_5gb_30d'] }),
  name: Type.String({ minLength: 1, maxLength: 200, examples: ['Europe 5 GB, 30 days'] }),
  countries: Type.Array(countryInput(), {
    minItems: 1,
    uniqueItems: true,
    description: 'Countries where the plan works, as ISO 3166-1 alpha-2 codes.',
  }),
  data_bytes: nullableInteger({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Data allowance in bytes; null means unlimited.',
  }),
  validity_days: Type.Integer({
    minimum: 1,
    maximum: 3650,
    description: 'Days the data is valid, counted from the activation of its bundle.',
  }),
  price,
  speeds: Type.Array(Type.Enum(['3G', '4G', '5G']), { minItems: 1, uniqueItems: true }),
};

const { id, ...otherFields } = productFields;

export const Product = Type.Object(
  {
    id,
    object: Type.Literal('product'),
    ...otherFields,
    after_depletion: AfterDepletion,
    active: Type.Boolean({ description: 'Whether the product can be ordered.' }),
    created: unixSeconds('When the product was added to the catalog.'),
  },
  {
    title: 'Product',
    description: 'A data plan that you can provision on an eSIM.',
    examples: [
      {
        id: exampleProductId,
        object: 'product',
        name: 'Europe 5 GB, 30 days',
        countries: ['DE', 'FR', 'IT'],
        data_bytes: exampleBytes.data,
        validity_days: 30,
        price: { amount: 900, currency: 'eur' },
        speeds: ['4G', '5G'],
        after_depletion: { action: 'throttle', kbps: 128 },
        active: true,
        created: exampleTime,
      },
    ],
  },
);

export type Product = Static<typeof Product>;

export const listProducts = operation({
  method: 'GET',
  path: '/v1/products',
  tag: 'Products',
  summary: 'List products',
  description: 'Returns the listed and active products of the catalog.',
  scope: 'read',
  query: listQuery({
    country: Type.Optional(
      countryInput({
        description: 'Only products that work in this country, an ISO 3166-1 alpha-2 code.',
        examples: ['FR'],
      }),
    ),
  }),
  status: 200,
  response: listOf(Product, 'ProductList'),
  refusals: ['cursor_invalid'],
});

export const getProduct = operation({
  method: 'GET',
  path: '/v1/products/{id}',
  tag: 'Products',
  summary: 'Get a product',
  description: 'Returns a product, even if it is unlisted or no longer active.',
  scope: 'read',
  params: Type.Object({
    id: Type.String({ description: 'Id of the product.', examples: ['prod_europe_5gb_30d'] }),
  }),
  status: 200,
  response: Product,
  refusals: ['resource_missing'],
});

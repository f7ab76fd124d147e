import type { Static } from 'typebox';
import { exampleProductId } from '../example-values.ts';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import { Product, productFields } from '../product.ts';
import { nullableString } from '../schema.ts';
import { afterDepletionInput } from '../service.ts';
import { Type } from '../type.ts';

/** Free text of the operator (SGP.22 §5.3.1). A leading or trailing space or a control character is a typing error. */
export const profileTypePattern = '^[!-~]([ -~]*[!-~])?$';

/** What the catalog knows about a product beside `productFields`. Optional in the catalog file and in a request. */
export const catalogFields = {
  active: Type.Boolean({ default: true, description: 'Whether the product can be ordered.' }),
  listed: Type.Boolean({
    default: true,
    description:
      'Whether accounts find the product in `GET /v1/products`. An unlisted one can be ordered by its id.',
  }),
  profile_type: nullableString({
    pattern: profileTypePattern,
    maxLength: 100,
    default: null,
    description: 'The SM-DP+’s name for the product’s profiles. Accounts do not see it.',
    examples: ['ACME-EU-5G'],
  }),
  after_depletion: afterDepletionInput,
};

const [productExample] = (Product as unknown as { examples: [object] }).examples;

export const CatalogProduct = Type.Object(
  { ...catalogFields, ...Product.properties, active: catalogFields.active },
  {
    title: 'CatalogProduct',
    description: 'A product as the operator sees it.',
    examples: [{ ...productExample, listed: true, profile_type: 'ACME-EU-5G' }],
  },
);

export type CatalogProduct = Static<typeof CatalogProduct>;

function paramsWith(id: string) {
  return Type.Object({ id: Type.String({ description: 'Id of the product.', examples: [id] }) });
}

const params = paramsWith(exampleProductId);

const tag = 'Operator products';

export const listCatalogProducts = operation({
  method: 'GET',
  path: '/v1/operator/products',
  tag,
  summary: 'List all products',
  description: 'Returns every product of the catalog, including unlisted and inactive ones.',
  scope: 'operator',
  query: listQuery({}),
  status: 200,
  response: listOf(CatalogProduct, 'CatalogProductList'),
  refusals: ['cursor_invalid'],
});

export const getCatalogProduct = operation({
  method: 'GET',
  path: '/v1/operator/products/{id}',
  tag,
  summary: 'Get a product of the catalog',
  description: 'Returns a product with its `profile_type` and whether it is listed.',
  scope: 'operator',
  params,
  status: 200,
  response: CatalogProduct,
  refusals: ['resource_missing'],
});

const { id: _, ...given } = productFields;

export const putCatalogProduct = operation({
  method: 'PUT',
  path: '/v1/operator/products/{id}',
  tag,
  summary: 'Create or replace a product',
  description:
    'Writes the whole product, as `simplane-server catalog import` does: fields that are left out get their defaults. In live mode an active product needs a `profile_type`, unless the workers choose ICCIDs from ranges of yours. Orders that are open keep the profile type of their first attempt.',
  scope: 'operator',
  audit: { action: 'product.updated', target: 'product' },
  params,
  body: Type.Object(
    {
      ...given,
      name: { ...given.name, description: 'Name, as accounts see it.' },
      price: { ...given.price, description: 'Price, as accounts see it.' },
      speeds: { ...given.speeds, description: 'Generations of mobile networks that the plan includes.' },
      active: Type.Optional(catalogFields.active),
      listed: Type.Optional(catalogFields.listed),
      profile_type: Type.Optional(catalogFields.profile_type),
      after_depletion: Type.Optional(catalogFields.after_depletion),
    },
    {
      additionalProperties: false,
      examples: [
        {
          name: 'Europe 5 GB, 30 days',
          countries: ['DE', 'FR', 'IT'],
          data_bytes: 5_000_000_000,
          validity_days: 30,
          price: { amount: 900, currency: 'eur' },
          speeds: ['4G', '5G'],
          profile_type: 'ACME-EU-5G',
          after_depletion: { action: 'throttle', kbps: 128 },
        },
      ],
    },
  ),
  status: 200,
  response: CatalogProduct,
  refusals: [],
});

export const deactivateProduct = operation({
  method: 'POST',
  path: '/v1/operator/products/{id}/deactivate',
  tag,
  summary: 'Deactivate a product',
  description:
    'The product can no longer be ordered, and `GET /v1/products` no longer lists it. Accepted orders continue. To sell it again, put it with `active: true`.',
  scope: 'operator',
  audit: { action: 'product.deactivated', target: 'product' },
  params: paramsWith('prod_th_unlimited_10d'), // other samples order the usual product
  status: 200,
  response: CatalogProduct,
  refusals: ['resource_missing'],
});
